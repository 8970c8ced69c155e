const MiB = 1024 ** 2;
const GiB = 1024 ** 3;

/** A number of bytes for people: "10.5 MiB". */
export const sizeText = (bytes: number): string =>
  bytes >= GiB ? `${(bytes / GiB).toFixed(1)} GiB` : `${(bytes / MiB).toFixed(1)} MiB`;
