/**
 * Divides content into parts of the given size; only the last one may be smaller. Empty content is one empty part.
 * At most one part and one chunk are kept in memory.
 */
export async function* partsOf(
  content: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<{ bytes: Uint8Array; isLast: boolean }> {
  let chunks: Uint8Array[] = [];
  let filled = 0;
  for await (let chunk of content) {
    while (filled + chunk.length > size) {
      chunks.push(chunk.subarray(0, size - filled));
      chunk = chunk.subarray(size - filled);
      const bytes = Buffer.concat(chunks, size);
      chunks = [];
      filled = 0;
      yield { bytes, isLast: false };
    }
    if (chunk.length === 0) continue;
    chunks.push(chunk);
    filled += chunk.length;
  }
  yield { bytes: Buffer.concat(chunks, filled), isLast: true };
}
