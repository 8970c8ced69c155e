const KiB = 1024;
const units: readonly (readonly [size: number, name: string])[] = [
  [KiB ** 3, "GiB"],
  [KiB ** 2, "MiB"],
  [KiB, "KiB"],
];

/** A number of bytes in units of 1024, as limits are given: "10.5 MiB", "812 bytes". */
export function binarySizeText(bytes: number): string {
  // What rounds up to a whole unit is written in that unit.
  const unit = units.find(([size]) => bytes >= size * 0.99995);
  return unit === undefined
    ? `${bytes} ${bytes === 1 ? "byte" : "bytes"}`
    : `${(bytes / unit[0]).toFixed(1)} ${unit[1]}`;
}
