const unitNames = ["B", "KB", "MB", "GB", "TB"];

export function sizeText(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  while (amount >= 1000 && unit < unitNames.length - 1) {
    amount /= 1000;
    unit++;
  }
  return `${unit === 0 ? amount : amount.toFixed(1)} ${unitNames[unit]}`;
}

export const bar = (done: number, whole: number, width = 24): string => {
  const share = whole === 0 ? 1 : Math.min(1, done / whole);
  const filled = Math.floor(share * width);
  return `[${"#".repeat(filled)}${"-".repeat(width - filled)}] ${Math.floor(share * 100)} %`;
};

/** The line of a transfer in progress. `before` bytes were there when it began. */
export function transferText(done: number, whole: number | null, before: number, milliseconds: number): string {
  const seconds = milliseconds / 1000;
  const speed = seconds > 0 ? `  ${sizeText(Math.round((done - before) / seconds))}/s` : "";
  if (whole === null) return `${sizeText(done)}${speed}`;
  return `${bar(done, whole)}  ${sizeText(done)} of ${sizeText(whole)}${speed}`;
}
