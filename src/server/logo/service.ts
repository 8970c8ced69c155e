// The organization's logo. Its address is in the settings, like that of a logo on another server.
import type { Download, StoredFile } from "../../api/bodies.ts";
import { type LogoMode, logoModes } from "../../api/logo.ts";
import { changeSettings } from "../app-config/service.ts";
import type { Context } from "../core/context.ts";
import { invalid, notThere } from "../core/errors.ts";
import { linkTo } from "../core/http/links.ts";
import { downloadOf, startOf } from "../files/service.ts";
import { eq, oneOf } from "../store/query.ts";

export const LOGO_PATH = "/api/latest/svc/logo";

/** The setting with the address of the logo. */
const settings = { dark: "org_logo_url", light: "org_logo_url_light_background" } as const;

const modesOf = (mode: LogoMode | "all"): readonly LogoMode[] => (mode === "all" ? logoModes : [mode]);

/** The first bytes in hex. Files that may contain scripts, such as SVG images, are none of these. */
const formats: readonly (readonly [type: string, pattern: RegExp])[] = [
  ["image/png", /^89504e470d0a1a0a/],
  ["image/jpeg", /^ffd8ff/],
  ["image/gif", /^474946383[79]61/],
  ["image/webp", /^52494646.{8}57454250/],
];

export async function setLogo(ctx: Context, given: LogoMode | "all", file: StoredFile): Promise<Record<string, never>> {
  const start = (await startOf(ctx, file.id, 12)).toString("hex");
  const format = formats.find(([, pattern]) => pattern.test(start));
  if (!format) throw invalid("logo", "must be a PNG, JPEG, GIF or WebP image");
  const modes = modesOf(given);
  // Another image has another address, so that no browser shows an old one.
  const addresses = await Promise.all(
    modes.map((mode) => linkTo(ctx, `${LOGO_PATH}?mode=${mode}&version=${file.sha256.slice(0, 16)}`)),
  );
  await changeSettings(
    ctx,
    { org_info: Object.fromEntries(modes.map((mode, i) => [settings[mode], addresses[i]])) },
    (store) =>
      store.logos.upsert(
        modes.map((mode) => ({ mode, type: format[0], file_id: file.id })),
        { on: ["mode"] },
      ),
  );
  return {};
}

/** Also removes the address of a logo on another server. */
export async function deleteLogo(ctx: Context, given: LogoMode | "all"): Promise<Record<string, never>> {
  const modes = modesOf(given);
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
