import { useCallback, useRef, useState } from "react";
import { notifyFailed } from "../frame/notices.tsx";

interface ActionState<Input extends readonly unknown[]> {
  /** Stays the same function as long as the component exists. */
  readonly run: (...input: Input) => void;
  readonly isRunning: boolean;
}

/** What a button does: once for the same input, however often it is pressed meanwhile. An error becomes a notice. */
export function useAction<Input extends readonly unknown[]>(
  perform: (...input: Input) => Promise<unknown>,
): ActionState<Input> {
  const newest = useRef(perform);
  newest.current = perform;
  const running = useRef(new Set<string>());
  const [count, setCount] = useState(0);
  const run = useCallback((...input: Input) => {
    const key = JSON.stringify(input);
    if (running.current.has(key)) return;
    const end = () => {
      running.current.delete(key);
      setCount(running.current.size);
    };
    running.current.add(key);
    setCount(running.current.size);
    void newest
      .current(...input)
      .catch(notifyFailed)
      .finally(end);
  }, []);
  return { run, isRunning: count > 0 };
}
