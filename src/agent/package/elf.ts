// Adds data to a program of Linux (ELF, 64 bits) as a note, where the program finds it in its own memory. The data and a
// longer table of segments are appended to the file; nothing that is in it moves. See elf(5).

const SEGMENT_BYTES = 56;
const LOAD = 1;
const NOTE = 4;
const TABLE = 6;
const READ = 4;
/** The largest page size of the supported architectures. */
const PAGE_BYTES = 0x10000;

/** The file is no program that this can be done with. */
export class NotElf extends Error {}

interface Segment {
  readonly type: number;
  readonly flags: number;
  readonly offset: number;
  readonly address: number;
  readonly fileBytes: number;
  readonly memoryBytes: number;
  readonly align: number;
}

const roundUp = (value: number, to: number): number => Math.ceil(value / to) * to;

const segmentIn = (table: Buffer, at: number): Segment => ({
  type: table.readUInt32LE(at),
  flags: table.readUInt32LE(at + 4),
  offset: Number(table.readBigUInt64LE(at + 8)),
  address: Number(table.readBigUInt64LE(at + 16)),
  fileBytes: Number(table.readBigUInt64LE(at + 32)),
  memoryBytes: Number(table.readBigUInt64LE(at + 40)),
  align: Number(table.readBigUInt64LE(at + 48)),
});

function bytesOf({ type, flags, offset, address, fileBytes, memoryBytes, align }: Segment): Buffer {
  const bytes = Buffer.alloc(SEGMENT_BYTES);
  bytes.writeUInt32LE(type, 0);
  bytes.writeUInt32LE(flags, 4);
  for (const [i, value] of [offset, address, address, fileBytes, memoryBytes, align].entries())
    bytes.writeBigUInt64LE(BigInt(value), 8 + 8 * i);
  return bytes;
}

function noteOf(name: string, data: Buffer): Buffer {
  const header = Buffer.alloc(12);
  const text = Buffer.from(`${name}\0`);
  header.writeUInt32LE(text.length, 0);
  header.writeUInt32LE(data.length, 4);
  const padded = (part: Buffer) => Buffer.concat([part, Buffer.alloc(roundUp(part.length, 4) - part.length)]);
  return Buffer.concat([header, padded(text), padded(data)]);
}

/** The program with a note of this name. Throws NotElf. */
export function withNote(program: Buffer, name: string, data: Buffer): Buffer {
  const isElf = program.length > 64 && program.readUInt32BE(0) === 0x7f454c46;
  // Class 64 bits, little-endian.
  if (!isElf || program[4] !== 2 || program[5] !== 1) throw new NotElf("it is not an ELF program of 64 bits");
  const start = Number(program.readBigUInt64LE(0x20));
  const count = program.readUInt16LE(0x38);
  if (program.readUInt16LE(0x36) !== SEGMENT_BYTES || start + count * SEGMENT_BYTES > program.length)
    throw new NotElf("its table of segments is damaged");
  const segments = Array.from({ length: count }, (_, i) => segmentIn(program, start + i * SEGMENT_BYTES));
  const loads = segments.filter(({ type }) => type === LOAD);
  if (loads.length === 0) throw new NotElf("it has no segments to load");

  // Kernels before 5.18 compute the table's address from its offset and the address of the first segment, so both get
  // the same distance.
  const distance = Math.min(...loads.map((segment) => segment.address - segment.offset));
  const end = Math.max(...loads.map((segment) => segment.address + segment.memoryBytes));
  const address = roundUp(Math.max(end, distance + program.length), PAGE_BYTES);
  const offset = address - distance;
  const note = noteOf(name, data);
  const tableBytes = (count + 2) * SEGMENT_BYTES;
  const noteAt = roundUp(tableBytes, 16);
  const added = { flags: READ, fileBytes: noteAt + note.length, memoryBytes: noteAt + note.length };
  const place = {
    offset: offset + noteAt,
    address: address + noteAt,
    fileBytes: note.length,
    memoryBytes: note.length,
  };
  const table = segments.map((segment) =>
    segment.type === TABLE ? { ...segment, offset, address, fileBytes: tableBytes, memoryBytes: tableBytes } : segment,
  );
  // The loader expects segments in the order of their addresses.
  table.splice(segments.lastIndexOf(loads.at(-1)!) + 1, 0, {
    ...added,
    type: LOAD,
    offset,
    address,
    align: PAGE_BYTES,
  });
  table.push({ type: NOTE, flags: READ, ...place, align: 4 });

  const result = Buffer.alloc(offset + noteAt + note.length);
  program.copy(result);
  Buffer.concat(table.map(bytesOf)).copy(result, offset);
  note.copy(result, offset + noteAt);
  result.writeBigUInt64LE(BigInt(offset), 0x20);
  result.writeUInt16LE(count + 2, 0x38);
  return result;
}
