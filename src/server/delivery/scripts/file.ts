// Uploaded files of scripts.
import { invalid } from "../../platform/core/errors.ts";
import { checkText, extensionOf } from "../../software/script-texts/texts.ts";

export interface ScriptFile {
  readonly bytes: Uint8Array;
  readonly name: string;
}

/**
 * The file's text, if hosts can run it; otherwise 422. Its kind is that of the file, or of another name. Windows line ends
 * become those of Unix: interpreters stumble over them.
 */
export function readScript({ bytes, name }: ScriptFile, field: string, nameOfKind = name): string {
  return checked(decode(bytes, field).replaceAll("\r\n", "\n"), nameOfKind, field);
}

/** Reads a script with its line ends as they are, for scripts whose files are kept elsewhere. */
export const readScriptAsIs = ({ bytes, name }: ScriptFile, field: string): string =>
  checked(decode(bytes, field), name, field);

function checked(text: string, name: string, field: string): string {
  checkText(text, extensionOf(name, field), field);
  return text;
}

function decode(bytes: Uint8Array, field: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalid(field, "the script is not UTF-8 text");
  }
}
