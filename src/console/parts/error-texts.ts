import { ApiCallError } from "../../client/errors.ts";

/** What went wrong, in the server's words, as sentences. */
export function errorTexts(error: unknown): readonly string[] {
  if (error instanceof ApiCallError) {
    const reasons = error.errors.map(({ name, reason }) => (name === "base" ? reason : `${name}: ${reason}`));
    return (reasons.length === 0 ? [error.message] : reasons).map(sentence);
  }
  return [sentence(error instanceof Error ? error.message : "Something went wrong")];
}

const sentence = (text: string): string => {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
};
