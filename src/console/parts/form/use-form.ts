// Forms: values by the names that the API's bodies have, so that the server's errors belong to a field by their name.
import { useRef, useState } from "react";
import { ApiCallError } from "../../../client/errors.ts";
import { request } from "../../api.ts";
import { errorTexts } from "../error-texts.ts";
import { listToSend } from "./lists.ts";

export type FormValues = Readonly<Record<string, unknown>>;

interface FormOptions<V extends FormValues, Reply> {
  /** What is stored now. If others change it meanwhile, fields that the user has not changed follow. */
  readonly initial: V;
  /**
   * Sends the values. With `dryRun`, the server only checks them. `changed` has only those that the user has changed:
   * an endpoint that changes something gets these, so that what others change meanwhile is not lost.
   */
  readonly send: (values: V, options: { readonly dryRun?: boolean }, changed: Partial<V>) => Promise<Reply>;
  readonly onDone: (reply: Reply, values: V, changed: Partial<V>) => void;
  /**
   * Reads the lists of the form as they are stored now. They are sent as a whole, so what others have added and removed
   * since the user began is added and removed too. A text is a list with an item on each line.
   */
  readonly storedLists?: () => Promise<Partial<V>>;
  /** Whether the endpoint has dry runs: then a field is checked when the user leaves it. Default: yes. */
  readonly hasDryRun?: boolean;
}

export interface Form<V extends FormValues> {
  readonly values: V;
  readonly set: <K extends keyof V>(name: K, value: V[K]) => void;
  readonly errorOf: (name: keyof V) => string | null;
  /** The value that somebody else has saved since the user began to change the field. Undefined: nobody has. */
  readonly otherValueOf: (name: keyof V) => unknown;
  /** Errors that belong to no field of the form, with the server's id of the request if there is one. */
  readonly general: readonly string[];
  readonly isSending: boolean;
  readonly isChanged: boolean;
  /** The user has left the field. */
  readonly leave: (name: keyof V) => void;
  readonly submit: () => void;
  /** Forgets what was typed. */
  readonly reset: () => void;
}

export function useForm<V extends FormValues, Reply>(options: FormOptions<V, Reply>): Form<V> {
  const { initial, send, onDone, storedLists, hasDryRun = true } = options;
  const [edits, setEdits] = useState<Edits<V>>({});
  const [error, setError] = useState<unknown>(null);
  const [isSending, setSending] = useState(false);
  const sending = useRef(false);
  const visited = useRef(new Set<keyof V>());
  const checks = useRef(0);
  const changed = changesIn(edits, initial);
  const values = { ...initial, ...changed };
  const submit = async () => {
    if (sending.current) return;
    sending.current = true;
    checks.current++;
    setSending(true);
    try {
      const current = storedLists === undefined ? {} : await request(storedLists);
      const sent = { ...changed, ...listsToSend(edits, changed, current) };
      const all = { ...values, ...sent };
      const reply = await request(() => send(all, {}, sent));
      setError(null);
      setEdits(afterSaving);
      onDone(reply, all, sent);
    } catch (thrown) {
      for (const name of Object.keys(values)) visited.current.add(name);
      setError(thrown);
    } finally {
      sending.current = false;
      setSending(false);
    }
  };
  const check = async () => {
    const number = ++checks.current;
    const thrown = await request(() => send(values, { dryRun: true }, changed)).then(
      () => null,
      (reason: unknown) => reason,
    );
    // Only the answer to the newest values counts; that the server cannot be reached is said when the form is sent.
    if (number === checks.current && (thrown === null || isRefusal(thrown))) setError(thrown);
  };
  const reasons = error instanceof ApiCallError ? error.errors : [];
  const isField = (name: string) => Object.keys(values).some((field) => isAbout(name, field));
  return {
    values,
    set: (name, value) =>
      setEdits((before) => ({
        ...before,
        [name]: { value, before: (before[name] ?? { before: initial[name] }).before },
      })),
    errorOf(name) {
      if (!visited.current.has(name)) return null;
      const texts = reasons.filter((reason) => isAbout(reason.name, String(name))).map(({ reason }) => reason);
      return texts.length === 0 ? null : texts.join("; ");
    },
    otherValueOf(name) {
      const edit = name in changed ? edits[name] : undefined;
      return edit === undefined || isSame(edit.before, initial[name]) ? undefined : initial[name];
    },
    general: generalTexts(error, isField),
    isSending,
    isChanged: Object.keys(changed).length > 0,
    leave(name) {
      if (!(name in changed) && !visited.current.has(name)) return;
      visited.current.add(name);
      if (hasDryRun) void check();
    },
    submit: () => void submit(),
    reset() {
      setEdits({});
      setError(null);
      visited.current.clear();
    },
  };
}

/** What the user has typed, by field, and what was stored when the user began to. */
type Edits<V extends FormValues> = {
  readonly [K in keyof V]?: { readonly value: V[K]; readonly before: V[K] };
};

const changesIn = <V extends FormValues>(edits: Edits<V>, initial: V): Partial<V> =>
  Object.fromEntries(
    Object.entries(edits).flatMap(([name, edit]) =>
      edit === undefined || isSame(edit.value, initial[name]) ? [] : [[name, edit.value]],
    ),
  ) as Partial<V>;

/** The lists that the user has changed, with the changes of others. */
const listsToSend = <V extends FormValues>(edits: Edits<V>, changed: Partial<V>, current: Partial<V>): Partial<V> =>
  Object.fromEntries(
    Object.entries(current).flatMap(([name, stored]) =>
      name in changed ? [[name, listToSend(name, { before: edits[name]?.before, after: changed[name], stored })]] : [],
    ),
  ) as Partial<V>;

/** What was saved is what is stored, until it is read again. */
const afterSaving = <V extends FormValues>(edits: Edits<V>): Edits<V> =>
  Object.fromEntries(
    Object.entries(edits).flatMap(([name, edit]) =>
      edit === undefined ? [] : [[name, { value: edit.value, before: edit.value }]],
    ),
  ) as Edits<V>;

const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (isPlain(a) && isPlain(b) && JSON.stringify(a) === JSON.stringify(b));

const isPlain = (value: unknown): boolean =>
  Array.isArray(value) ||
  (typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype);

const isRefusal = (error: unknown): boolean =>
  error instanceof ApiCallError && error.status >= 400 && error.status < 500 && error.status !== 429;

/** Whether an error's name is the field, or a place in it: `labels_include_any[2]`, `scripts.0.name`. */
const isAbout = (name: string, field: string): boolean =>
  name === field || name.startsWith(`${field}.`) || name.startsWith(`${field}[`);

/** A refusal that names fields is shown beside them; only errors of other names remain. */
function generalTexts(error: unknown, isField: (name: string) => boolean): readonly string[] {
  if (error === null) return [];
  if (!(error instanceof ApiCallError)) return errorTexts(error);
  const rest = error.errors.filter(({ name }) => !isField(name));
  if (error.errors.length > 0 && rest.length === 0) return [];
  const reference = error.status >= 500 && error.requestId !== undefined ? [`Reference: ${error.requestId}`] : [];
  return [...errorTexts(new ApiCallError(error.status, error.message, { errors: rest })), ...reference];
}
