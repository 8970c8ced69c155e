import type { ReactElement, ReactNode } from "react";

export type Tone = "good" | "bad" | "note" | "quiet";

/** A state as text in a colour. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }): ReactElement {
  return <span className={`badge ${tone}`}>{children}</span>;
}
