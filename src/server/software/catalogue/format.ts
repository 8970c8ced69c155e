// The files of the catalogue, as docs/catalogue.md describes them. Unknown keys are ignored.
import { z } from "zod";
import { isOneLine, NOT_ONE_LINE } from "../../../api/fields.ts";
import { checkOutboundUrl } from "../../platform/core/outbound/fetch.ts";
import { downloadName } from "../../platform/files/names.ts";

const line = (most: number) => z.string().min(1).max(most).refine(isOneLine, { error: NOT_ONE_LINE });
const sha256 = z
  .string()
  .regex(/^[0-9a-fA-F]{64}$/, { error: "must be a SHA-256 digest in hexadecimal form" })
  .transform((text) => text.toLowerCase());
const script = z.string().max(1_000_000);
const query = z.string().max(100_000);

export const CatalogueList = z.object({ version: z.literal(2), apps: z.array(z.unknown()).max(10_000) });

export const CatalogueEntry = z
  .object({
    name: line(255),
    slug: z.string().regex(/^[a-z0-9][a-z0-9._+-]{0,99}\/(darwin|windows)$/, {
      error: "must be a name and a platform, such as firefox/darwin",
    }),
    platform: z.enum(["darwin", "windows"]),
    unique_identifier: line(255),
    description: z.string().max(10_000).default(""),
    sha256: sha256.optional(),
  })
  .refine(({ slug, platform }) => slug.endsWith(`/${platform}`), {
    path: ["slug"],
    error: "must end with the app's platform",
  });
export type CatalogueEntry = z.output<typeof CatalogueEntry>;

const Version = z.object({
  version: line(255),
  queries: z.object({ exists: query.min(1), patched: query.optional(), closed: query.optional() }),
  installer_url: z.string().superRefine((url, context) => {
    const problem = checkOutboundUrl(url);
    if (problem !== null) context.addIssue({ code: "custom", message: problem });
  }),
  install_script_ref: z.string(),
  uninstall_script_ref: z.string(),
  sha256,
  default_categories: z.array(line(255)).max(50).default([]),
});
export type CatalogueVersion = z.output<typeof Version>;

export const Manifest = z
  .object({ versions: z.array(Version).min(1).max(100), refs: z.record(z.string(), script) })
  .superRefine(({ versions, refs }, context) => {
    for (const [at, version] of versions.entries())
      for (const key of ["install_script_ref", "uninstall_script_ref"] as const)
        if (!Object.hasOwn(refs, version[key]))
          context.addIssue({ code: "custom", path: ["versions", at, key], message: "is not in refs" });
  });
export type Manifest = z.output<typeof Manifest>;

export const scriptsOf = ({ refs }: Manifest, version: CatalogueVersion) => ({
  install_script: refs[version.install_script_ref]!,
  uninstall_script: refs[version.uninstall_script_ref]!,
});

/** The last part of the URL's path. */
export const installerName = ({ installer_url }: Pick<CatalogueVersion, "installer_url">): string =>
  downloadName(installer_url);
