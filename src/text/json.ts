/** The text as a part of a JSON string. */
export const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Why a text is not JSON. The engine's own message quotes the text, which may be secret. */
export function notJson(error: unknown): string {
  const [place = ""] =
    /at position \d+( \(line \d+ column \d+\))?/.exec(error instanceof Error ? error.message : "") ?? [];
  return place === "" ? "is not JSON" : `is not JSON ${place}`;
}
