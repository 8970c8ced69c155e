const units = ["bytes", "KiB", "MiB", "GiB", "TiB"] as const;

/** A size in the unit that suits it: "16 GiB". */
export function bytes(size: number): string {
  const step = size < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(size) / 10));
  const value = size / 1024 ** step;
  return `${value >= 10 || step === 0 ? Math.round(value) : value.toFixed(1)} ${units[step]}`;
}
