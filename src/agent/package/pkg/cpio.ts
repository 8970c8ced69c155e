// Writes the archives in installer packages of macOS: cpio in its portable format with octal numbers (odc).

export interface CpioFile {
  /** Relative, with slashes. */
  readonly name: string;
  readonly content: Uint8Array;
  readonly mode: number;
}

const FOLDER = 0o040755;
const REGULAR = 0o100000;

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, "0");

function entry(index: number, name: string, mode: number, content: Uint8Array, epoch: number): Buffer[] {
  const text = Buffer.from(`${name}\0`);
  const numbers = [
    octal(0, 6),
    octal(index, 6),
    octal(mode, 6),
    // Owner and group: root.
    octal(0, 6),
    octal(0, 6),
    octal(1, 6),
    octal(0, 6),
    octal(epoch, 11),
    octal(text.length, 6),
    octal(content.length, 11),
  ];
  return [Buffer.from(`070707${numbers.join("")}`, "latin1"), text, Buffer.from(content)];
}

/** Files of one folder, which belong to root. `epoch`: their time, in seconds since 1970. */
export const createCpio = (files: readonly CpioFile[], epoch: number): Buffer =>
  Buffer.concat([
    ...entry(1, ".", FOLDER, Buffer.alloc(0), epoch),
    ...files.flatMap(({ name, mode, content }, i) => entry(i + 2, `./${name}`, REGULAR | mode, content, epoch)),
    ...entry(0, "TRAILER!!!", 0, Buffer.alloc(0), 0),
  ]);
