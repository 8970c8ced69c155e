// Values of packages: what requests may contain.
import { z } from "zod";
import { defaultedSchemasOf, recordOf } from "../../../../../api/plain-fields.ts";
import { type SetupPlatform, setupPlatforms } from "../../../../../api/setup-platforms.ts";
import {
  PACKAGE_SCRIPT_MAX,
  type PackageText,
  packageFields,
  packageTexts,
} from "../../../../../api/software/packages.ts";
import type { Context } from "../../../../platform/core/context.ts";
import { invalid } from "../../../../platform/core/errors.ts";
import { checkOutboundUrl, hasCredentials } from "../../../../platform/core/outbound/fetch.ts";
import type { Texts } from "../../../../software/installers/scripts.ts";
import type { RequestedChange } from "../../changes.ts";
import { parsed } from "../../parse.ts";
import type { Contents } from "../../values.ts";
import { readIcon } from "../title-icons.ts";

const digest = z.string().regex(/^([0-9a-f]{64})?$/, { error: "must be a SHA-256 digest in hex, or empty" });
const labels = z.array(z.string().min(1).max(255)).max(1000);

/** Texts and files only by their digests. Empty: none, or the default of the package. */
const PackageValue = z.strictObject({
  /** Slug of a maintained app, which has no URL and no digest here. */
  slug: z.string().max(255),
  /** The version of the maintained app that is kept. Empty: always the newest. */
  version: z.string().max(255),
  url: z.string().max(8192),
  /** SHA-256 of the file. */
  sha256: digest,
  ...recordOf(packageTexts, () => digest),
  configuration: digest.default(""),
  ...defaultedSchemasOf(packageFields),
  categories: z.array(z.string().min(1).max(255)).max(100),
  /** The categories are those of the catalogue, whatever is in the list. */
  default_categories: z.boolean(),
  /** An image. */
  icon: digest,
  setup_experience: z.boolean(),
  /** Platforms during whose setup the package is installed, separated by commas. Empty: its own. */
  setup_experience_platform: z.string().max(255),
  labels_include_all: labels,
  labels_include_any: labels,
  labels_exclude_any: labels,
});
export type PackageValue = z.output<typeof PackageValue>;

export interface DesiredPackage {
  readonly value: PackageValue;
  /** Texts that the request contains. */
  readonly texts: Texts;
  /** The file itself, if it is a script and the request contains it. */
  readonly script: Uint8Array | undefined;
  /** The image, if the request contains it. */
  readonly icon: Buffer | undefined;
}

const SCRIPT_NAME = /\.(sh|py|ps1)$/i;

/** Whether the file is a script that the request brings along. */
export const isOwnScript = (name: string, { slug, url }: PackageValue): boolean =>
  slug === "" && url === "" && SCRIPT_NAME.test(name);

export function readPackage(
  _: Context,
  { name, value }: RequestedChange,
  _texts: unknown,
  contents: Contents,
): DesiredPackage {
  const input = parsed(PackageValue, value);
  checkIdentity(name, input);
  const unknown = platformsIn(input).find((platform) => !(setupPlatforms as readonly string[]).includes(platform));
  if (unknown !== undefined) throw invalid("setup_experience_platform", `${unknown} is not a platform`);
  const texts: { [F in PackageText]?: string } = {};
  for (const field of packageTexts) {
    const bytes = contents.get(input[field]);
    if (bytes !== undefined) texts[field] = textIn(bytes, field);
  }
  if (isOwnScript(name, input) && input.install_script !== "")
    throw invalid("install_script", "a script package is its own install script");
  const script = isOwnScript(name, input) ? contents.get(input.sha256) : undefined;
  return { value: input, texts, script, icon: readIcon(input, contents) };
}

export const platformsIn = ({ setup_experience_platform: list }: PackageValue): SetupPlatform[] =>
  list === "" ? [] : (list.split(",") as SetupPlatform[]);

function checkIdentity(name: string, { slug, version, url, sha256, default_categories }: PackageValue): void {
  if (slug !== "") {
    if (url !== "") throw invalid("url", "must be empty: the catalogue names the file");
    if (sha256 !== "") throw invalid("sha256", "must be empty: the catalogue names the file");
    if (name !== slug) throw invalid("change.name", "must be the slug");
    return;
  }
  if (version !== "") throw invalid("version", "must be empty: only maintained apps have versions");
  if (default_categories) throw invalid("default_categories", "must be false: only maintained apps have such");
  if (url !== "") {
    if (name !== url) throw invalid("change.name", "must be the url");
    const problem = checkOutboundUrl(url);
    if (problem !== null) throw invalid("url", problem);
    if (hasCredentials(url)) throw invalid("url", "must not contain a user name or password");
  } else if (sha256 === "") throw invalid("sha256", "is required without a url and a slug");
  else if (!SCRIPT_NAME.test(name) && name !== sha256) throw invalid("change.name", "must be the digest of the file");
  if (url === "" && SCRIPT_NAME.test(name) && (name.length > 255 || /[/\\]/.test(name)))
    throw invalid("change.name", "must be the name of a file");
}

function textIn(bytes: Uint8Array, field: string): string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalid(field, "is not UTF-8 text");
  }
  if (text.length > PACKAGE_SCRIPT_MAX) throw invalid(field, `has more than ${PACKAGE_SCRIPT_MAX} characters`);
  return text;
}
