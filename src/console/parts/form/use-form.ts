// Forms: values by the names that the API's bodies have, so that the server's errors belong to a field by their name.
import { useRef, useState } from "react";
import { ApiCallError } from "../../../client/errors.ts";
import { request } from "../../api.ts";
import { errorTexts } from "../error-texts.ts";

export type FormValues = Readonly<Record<string, unknown>>;

interface FormOptions<V extends FormValues, Reply> {
  readonly initial: V;
  /** Sends the values. With `dryRun`, the server only checks them. */
  readonly send: (values: V, options: { readonly dryRun?: boolean }) => Promise<Reply>;
  readonly onDone: (reply: Reply, values: V) => void;
  /** Whether the endpoint has dry runs: then a field is checked when the user leaves it. Default: yes. */
  readonly hasDryRun?: boolean;
}

export interface Form<V extends FormValues> {
  readonly values: V;
  readonly set: <K extends keyof V>(name: K, value: V[K]) => void;
  readonly errorOf: (name: keyof V) => string | null;
  /** Errors that belong to no field of the form, with the server's id of the request if there is one. */
  readonly general: readonly string[];
  readonly isSending: boolean;
  readonly isChanged: boolean;
  /** The user has left the field. */
  readonly leave: (name: keyof V) => void;
  readonly submit: () => void;
}

export function useForm<V extends FormValues, Reply>(options: FormOptions<V, Reply>): Form<V> {
  const { send, onDone, hasDryRun = true } = options;
  const [initial] = useState(options.initial);
  const [values, setValues] = useState(initial);
  const [error, setError] = useState<unknown>(null);
  const [isSending, setSending] = useState(false);
  const visited = useRef(new Set<keyof V>());
  const checks = useRef(0);
  const submit = async () => {
    if (isSending) return;
    checks.current++;
    setSending(true);
    try {
      const reply = await request(() => send(values, {}));
      setError(null);
      onDone(reply, values);
    } catch (thrown) {
      for (const name of Object.keys(values)) visited.current.add(name);
      setError(thrown);
    } finally {
      setSending(false);
    }
  };
  const check = async () => {
    const number = ++checks.current;
    const thrown = await request(() => send(values, { dryRun: true })).then(
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
    set: (name, value) => setValues((before) => ({ ...before, [name]: value })),
    errorOf(name) {
      if (!visited.current.has(name)) return null;
      const texts = reasons.filter((reason) => isAbout(reason.name, String(name))).map(({ reason }) => reason);
      return texts.length === 0 ? null : texts.join("; ");
    },
    general: generalTexts(error, isField),
    isSending,
    isChanged: Object.keys(values).some((name) => values[name] !== initial[name]),
    leave(name) {
      if (values[name] === initial[name] && !visited.current.has(name)) return;
      visited.current.add(name);
      if (hasDryRun) void check();
    },
    submit: () => void submit(),
  };
}

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
