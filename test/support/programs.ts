/** The least of a program that shows its system and architecture; `type`: the number of its format for that. */
export function programOf(system: "macos" | "windows", type: number): Buffer {
  const bytes = Buffer.alloc(256);
  if (system === "macos") {
    bytes.writeUInt32LE(0xfeedfacf, 0);
    bytes.writeUInt32LE(type, 4);
  } else {
    bytes.write("MZ");
    bytes.writeUInt32LE(0x80, 0x3c);
    bytes.write("PE\0\0", 0x80);
    bytes.writeUInt16LE(type, 0x84);
  }
  return bytes;
}
