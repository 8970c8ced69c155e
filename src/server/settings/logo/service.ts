// The organization's logo. Its address is in the settings, like that of a logo on another server.
import type { Download, StoredFile } from "../../../api/bodies.ts";
import { type LogoFormat, type LogoMode, logoFormat, logoModes } from "../../../api/settings/logo.ts";
import type { Context } from "../../platform/core/context.ts";
import { invalid, notThere } from "../../platform/core/errors.ts";
import { linkTo } from "../../platform/core/http/links.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { downloadOf, filesOf, startOf } from "../../platform/files/service.ts";
import { eq, oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { readSections } from "../app-config/rows.ts";
import { allSections } from "../app-config/sections.ts";
import { changeSettings, writeChange } from "../app-config/service.ts";
import type { logos } from "./tables.ts";

export type LogoRow = RowOf<typeof logos>;

export const LOGO_PATH = "/api/latest/svc/logo";

/** The setting with the address of the logo. */
const settings = { dark: "org_logo_url", light: "org_logo_url_light_background" } as const;

const modesOf = (mode: LogoMode | "all"): readonly LogoMode[] => (mode === "all" ? logoModes : [mode]);

/** 422 under `field` if the image cannot be a logo. */
export function checkLogo(content: Uint8Array, field: string): LogoFormat {
  const format = logoFormat(content);
  if (format === null) throw invalid(field, "must be a PNG, JPEG, GIF or WebP image");
  return format;
}

/** Another image has another address, so that no browser shows an old one. */
const addressOf = (ctx: Context, mode: LogoMode, sha256: string): Promise<string> =>
  linkTo(ctx, `${LOGO_PATH}?mode=${mode}&version=${sha256.slice(0, 16)}`);

export const logoOf = ({ logos }: Pick<ServerTx, "logos">, mode: LogoMode): Promise<LogoRow | null> =>
  logos.first({ where: eq("mode", mode) });

/** Sets the stored file as the logo, in the caller's transaction, which must hold the lock "config". */
export async function putLogo(inside: Context, mode: LogoMode, sha256: string): Promise<void> {
  const { store } = inside;
  const file_id = (await filesOf(inside, [sha256])).get(sha256);
  // A dry run has not stored it.
  if (file_id !== undefined) {
    const type = checkLogo(await startOf(inside, file_id, 12), "sha256");
    await store.logos.upsert([{ mode, type, file_id }], { on: ["mode"] });
  }
  await setAddress(inside, mode, await addressOf(inside, mode, sha256));
}

/** Removes a stored logo. The address of a logo on another server stays. */
export async function dropLogo(inside: Context, mode: LogoMode): Promise<void> {
  await inside.store.logos.delete(eq("mode", mode));
  const { org_info } = await inside.config.current();
  if (org_info[settings[mode]].includes(`${LOGO_PATH}?mode=${mode}`)) await setAddress(inside, mode, "");
}

async function setAddress(inside: Context, mode: LogoMode, address: string): Promise<void> {
  const before = await readSections(inside.store, allSections);
  const org_info = { ...before.get("org_info"), [settings[mode]]: address };
  await writeChange(inside, before, new Map([...before, ["org_info", org_info]]));
}

export async function setLogo(
  ctx: Context,
  choice: LogoMode | "all",
  file: StoredFile,
): Promise<Record<string, never>> {
  const type = checkLogo(await startOf(ctx, file.id, 12), "logo");
  const modes = modesOf(choice);
  const addresses = await Promise.all(modes.map((mode) => addressOf(ctx, mode, file.sha256)));
  await changeSettings(
    ctx,
    { org_info: Object.fromEntries(modes.map((mode, i) => [settings[mode], addresses[i]])) },
    (store) =>
      store.logos.upsert(
        modes.map((mode) => ({ mode, type, file_id: file.id })),
        { on: ["mode"] },
      ),
  );
  return {};
}

/** Removes the logo, be it stored here or the address of one on another server. */
export async function deleteLogo(ctx: Context, choice: LogoMode | "all"): Promise<Record<string, never>> {
  const modes = modesOf(choice);
  await changeSettings(ctx, { org_info: Object.fromEntries(modes.map((mode) => [settings[mode], ""])) }, (store) =>
    store.logos.delete(oneOf("mode", [...modes])),
  );
  return {};
}

export async function downloadLogo(ctx: Context, mode: LogoMode): Promise<Download> {
  const row = await ctx.store.logos.first({ where: eq("mode", mode) });
  if (!row) throw notThere(`there is no logo for ${mode} backgrounds`);
  return downloadOf(ctx, row.file_id, { type: row.type });
}
