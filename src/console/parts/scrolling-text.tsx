import type { ReactElement } from "react";

/** Text as it is, in its own lines, such as SQL, scripts and outputs. What is too wide or too long scrolls. */
export const ScrollingText = ({ text }: { readonly text: string }): ReactElement => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
  <pre tabIndex={0}>{text}</pre>
);
