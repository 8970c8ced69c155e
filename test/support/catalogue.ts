// Catalogues of maintained apps, and what a server has read of one.
import { createHash, type KeyObject, sign } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { eq } from "../../src/server/platform/store/query.ts";
import { Manifest } from "../../src/server/software/catalogue/format.ts";
import type { TestApp } from "./app.ts";
import { startFake } from "./ca-fakes.ts";

export interface AppInput {
  name?: string;
  slug: string;
  versions?: object[];
  refs?: Record<string, string>;
  platform?: string;
}
export const catalogueVersion = (more: object = {}) => ({
  version: "1.0",
  queries: { exists: "SELECT 1" },
  installer_url: "https://downloads.example.com/app.pkg",
  install_script_ref: "in",
  uninstall_script_ref: "out",
  sha256: "0".repeat(64),
  ...more,
});

/** Writes a catalogue; with a key, it is signed and names the digests of its files. */
export function writeCatalogue(dir: string, apps: readonly AppInput[], key?: KeyObject): void {
  const entries = apps.map(
    ({ name, slug, versions = [catalogueVersion()], refs = { in: "#!/bin/sh", out: "#!/bin/sh" }, platform }) => {
      const file = join(dir, `${slug}.json`);
      const text = JSON.stringify({ versions, refs, more: true });
      if (/^[a-z]/.test(slug)) {
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
      }
      const sha256 = key ? { sha256: createHash("sha256").update(text).digest("hex") } : {};
      return {
        name: name ?? slug,
        slug,
        platform: platform ?? slug.split("/")[1],
        unique_identifier: `org.example.${slug}`,
        ...sha256,
      };
    },
  );
  const list = Buffer.from(JSON.stringify({ version: 2, apps: entries }));
  writeFileSync(join(dir, "apps.json"), list);
  if (key) writeFileSync(join(dir, "apps.json.sig"), sign(null, list, key).toString("base64"));
}

/** `makeCatalogueApp` with an installer that a server has. */
export async function makeDownloadableApp(t: Pick<TestApp, "store" | "services">): Promise<void> {
  const file = "the installer";
  const { url } = await startFake(() => ({ status: 200, body: file }));
  Object.assign(t.services.settings, { outbound_allow: ["127.0.0.1", "localhost"] });
  const { id } = await makeCatalogueApp(t);
  const installer_url = `${url}/app.pkg`;
  const versions = [catalogueVersion({ installer_url, sha256: createHash("sha256").update(file).digest("hex") })];
  const manifest = Manifest.parse({ versions, refs: { in: "#!/bin/sh", out: "#!/bin/sh" } });
  await t.store.catalogueApps.update({ where: eq("id", id), set: { manifest } });
}

/** An app, as if the server had read it from its catalogue. */
export const makeCatalogueApp = async ({ store }: Pick<TestApp, "store">, slug = "firefox/darwin") => {
  const refs = { in: "#!/bin/sh", out: "#!/bin/sh" };
  const [row] = await store.catalogueApps.upsert(
    [
      {
        slug,
        name: "Mozilla Firefox",
        platform: slug.endsWith("windows") ? "windows" : "darwin",
        unique_identifier: "org.mozilla.firefox",
        version: "1.0",
        manifest: Manifest.parse({ versions: [catalogueVersion()], refs }),
        manifest_sha256: "0".repeat(64),
      },
    ],
    { on: ["slug"] },
  );
  return row!;
};
