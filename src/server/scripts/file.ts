// Uploaded files of scripts.
import { invalid } from "../core/errors.ts";
import { checkText, extensionOf } from "./texts.ts";

export interface ScriptFile {
  readonly bytes: Uint8Array;
  readonly name: string;
}

/** The file's text, if hosts can run it; otherwise 422. Its kind is that of the file, or of another name. */
export function readScript({ bytes, name }: ScriptFile, field: string, nameOfKind = name): string {
  const extension = extensionOf(nameOfKind, field);
  const text = decode(bytes, field);
  checkText(text, extension, field);
  return text;
}

/** Windows line ends become those of Unix: interpreters stumble over them. */
function decode(bytes: Uint8Array, field: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes).replaceAll("\r\n", "\n");
  } catch {
    throw invalid(field, "the script is not UTF-8 text");
  }
}
