import { type ReactElement, useCallback, useEffect, useId, useRef, useState } from "react";
import { type SelectorCheck, type SelectorCompletion, selectorsApi } from "../../api/inventory/selectors.ts";
import { client, request, useRead } from "../api.ts";
import { useShortcut } from "../frame/shortcuts.ts";
import { useTeamId } from "../url.ts";
import { Combobox } from "./combobox.tsx";
import { counted } from "./counted.ts";

interface SelectorBarProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

const MAX_OPTIONS = 12;
const PAUSE_MS = 200;
/** The most that the server takes. */
const MAX_LENGTH = 4096;

export interface TypedSelector {
  readonly text: string;
  readonly cursor: number;
}

/**
 * The selector of hosts, as the command line's `--where`: completed and counted by the server while it is typed. Enter
 * applies it if it is valid, and otherwise says what is wrong with it.
 */
export function SelectorBar({ value, onChange }: SelectorBarProps): ReactElement {
  const [typed, setTyped] = useState<TypedSelector>({ text: value, cursor: value.length });
  const [applied, setApplied] = useState(value);
  const [refused, setRefused] = useState<SelectorCheck["error"]>(null);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const teamId = useTeamId();
  const check = useSelectorCheck(typed, teamId);
  const focus = useCallback(() => input.current?.focus(), []);
  useShortcut("f", "Go to the selector", focus);
  if (value !== applied) {
    setApplied(value);
    setTyped({ text: value, cursor: value.length });
    setRefused(null);
  }
  const { text, cursor } = typed;
  // A completion in the middle of the text moves the cursor behind it.
  useEffect(() => {
    const element = input.current;
    if (element === document.activeElement && element?.selectionStart !== cursor)
      element?.setSelectionRange(cursor, cursor);
  }, [cursor]);
  const apply = async () => {
    const where = text.trim();
    const reply = where === "" ? null : await checkOf(where, teamId);
    setRefused(reply?.error ?? null);
    if (reply?.error === undefined || reply.error === null) onChange(where);
  };
  const completions = check?.completions.slice(0, MAX_OPTIONS) ?? [];
  const isTyping = text.trim() !== applied && refused === null;
  return (
    <div className={isTyping ? "selector typing" : "selector"}>
      <Combobox
        label="Selector"
        listLabel="Completions"
        placeholder='status = "online" and team = "Sales"'
        inputRef={input}
        value={text}
        isInvalid={refused !== null}
        {...(refused === null ? {} : { describedBy: `${id}-error` })}
        onChange={(next, at) => {
          setRefused(null);
          setTyped({ text: next.slice(0, MAX_LENGTH), cursor: at });
        }}
        options={completions.map((completion, at) => ({ id: String(at), content: completionLine(completion) }))}
        onSelect={(at) => setTyped(completed(text, completions[Number(at)]!))}
        onEnter={() => void apply()}
      />
      {isTyping && (
        <p aria-live="polite" className="selector-hint">
          {hintOf(check, cursor)}
        </p>
      )}
      {refused !== null && (
        <p id={`${id}-error`} role="alert" className="wrong">
          <ErrorPlace text={text.trim()} error={refused} />
        </p>
      )}
    </div>
  );
}

const bodyOf = (where: string, teamId: number | null, cursor?: number) => ({
  body: { where, ...(cursor === undefined ? {} : { cursor }), ...(teamId === null ? {} : { team_id: teamId }) },
});

/** Null if it cannot be checked now: the list then reports why. */
const checkOf = (where: string, teamId: number | null): Promise<SelectorCheck | null> =>
  request(() => client.call(selectorsApi.check, bodyOf(where, teamId))).catch(() => null);

/** The server's check of what is typed, some time after the last key. Undefined: it is not there yet. */
export function useSelectorCheck(typed: TypedSelector, teamId: number | null): SelectorCheck | undefined {
  const [settled, setSettled] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(typed), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const reply = useRead(selectorsApi.check, bodyOf(settled.text, teamId, settled.cursor), {
    enabled: settled.text.trim() !== "",
  });
  const isCurrent = settled.text === typed.text && settled.cursor === typed.cursor && !reply.isPlaceholderData;
  return isCurrent ? reply.data : undefined;
}

export const completionLine = ({ text, description }: SelectorCompletion): ReactElement => (
  <>
    <code>{text}</code> <span className="quiet">{description}</span>
  </>
);

/** The text with the completion in its place, followed by a blank. */
export function completed(text: string, { text: word, from, to }: SelectorCompletion): TypedSelector {
  const rest = text.slice(to);
  const begin = `${text.slice(0, from)}${word}${rest.startsWith(" ") ? "" : " "}`;
  return { text: begin + rest, cursor: begin.length + (rest.startsWith(" ") ? 1 : 0) };
}

/** How many hosts match, or what is missing. What is wrong at the cursor may just not be finished. */
function hintOf(check: SelectorCheck | undefined, cursor: number): string {
  if (check === undefined) return "…";
  if (check.error !== null)
    return check.error.position + check.error.length >= cursor
      ? "Not complete yet"
      : `Character ${check.error.position + 1}: ${check.error.message}`;
  return check.count === null ? "Valid; counting takes long" : `${counted(check.count, "host")} match. Enter: apply`;
}

interface ErrorPlaceProps {
  readonly text: string;
  readonly error: NonNullable<SelectorCheck["error"]>;
}

/** What is wrong, where, and the place itself. */
function ErrorPlace({ text, error: { message, position, length } }: ErrorPlaceProps): ReactElement {
  const place = text.slice(position, position + length);
  return (
    <>
      {place === "" ? "At the end" : `At character ${position + 1}`}: {message}
      {place !== "" && (
        <>
          {" "}
          <code>
            {text.slice(Math.max(0, position - 20), position)}
            <mark>{place}</mark>
            {text.slice(position + length, position + length + 20)}
          </code>
        </>
      )}
    </>
  );
}
