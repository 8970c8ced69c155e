// Files that sections name by a key of their own, such as a setup assistant profile.
import { dirname, extname, resolve } from "node:path";
import type { SectionName } from "../schema/sections.ts";
import type { Sources } from "./include.ts";
import { shownAs } from "./include.ts";
import { isUrl } from "./large-files.ts";
import type { Value } from "./overlay.ts";
import type { Place } from "./problems.ts";
import type { Tree } from "./tree.ts";

export interface SectionFile {
  readonly section: SectionName;
  /** The keys from the section to the file's, each with its spellings. */
  readonly keys: readonly (readonly string[])[];
  /** Extensions of the files that may be named. */
  readonly extensions: readonly string[];
  /** Addresses of files may be named, too. */
  readonly takesUrl?: true;
  /** The value of the object. Throws an error with the reason. */
  read(path: string, named: Place, sources: Sources): Promise<Value | null>;
}

export interface NamedFile {
  readonly value: Value;
  readonly at: Place;
}

/** Null if the section does not name a file. What is not a text is reported when the section is checked. */
export async function readSectionFile(
  sectionOf: (name: SectionName) => { readonly tree: Tree | null; readonly file: string } | undefined,
  { section, keys, extensions, takesUrl, read }: SectionFile,
  sources: Sources,
): Promise<NamedFile | null> {
  const root = sectionOf(section);
  let at: Tree | null | undefined = root?.tree;
  for (const spellings of keys) {
    if (at?.kind !== "map") return null;
    const { entries } = at;
    const key = spellings.find((spelling) => entries.has(spelling));
    at = key === undefined ? null : entries.get(key)!.value;
  }
  if (!root || at?.kind !== "leaf" || typeof at.value !== "string" || at.value.trim() === "") return null;
  const text = at.value.trim();
  const { problems } = sources;
  const path = takesUrl && isUrl(text) ? text : resolve(dirname(root.file), text);
  const [secret] = path === text ? sources.environment.masks.namesIn(text) : [];
  if (secret !== undefined) {
    problems.error(
      at.at,
      `an address from which svc itself downloads cannot contain a variable ($${secret}): whoever writes the file could send its value to any server. Give a file`,
    );
    return null;
  }
  if (path !== text && !extensions.includes(extname(text).toLowerCase())) {
    problems.error(at.at, `${text}: unsupported extension, it must be ${extensions.join(" or ")}`);
    return null;
  }
  try {
    const value = await read(path, at.at, sources);
    return value && { value, at: at.at };
  } catch (error) {
    problems.error(at.at, `${path === text ? text : shownAs(path, sources)}: ${(error as Error).message}`);
    return null;
  }
}
