import { type ReactElement, useEffect, useRef, useState } from "react";

interface SearchBoxProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

const PAUSE_MS = 250;

/** Searches when the user pauses. */
export function SearchBox({ value, onChange }: SearchBoxProps): ReactElement {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  useEffect(() => {
    // Back, forward and "Clear filters" change the text too.
    if (value !== sent.current) {
      sent.current = value;
      setText(value);
    }
  }, [value]);
  useEffect(() => {
    if (text === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = text;
      onChange(text);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  });
  return (
    <input
      type="search"
      aria-label="Search"
      placeholder="Search"
      value={text}
      maxLength={255}
      onChange={({ target }) => setText(target.value)}
    />
  );
}
