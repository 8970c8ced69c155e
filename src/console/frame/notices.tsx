import { type ReactElement, useSyncExternalStore } from "react";
import { ApiCallError } from "../../client/errors.ts";
import { errorTexts } from "../parts/error-texts.ts";

export interface Notice {
  readonly id: number;
  readonly kind: "done" | "failed";
  readonly text: string;
  /** The id under which the server logged an error. */
  readonly reference?: string | undefined;
  readonly undo?: (() => void) | undefined;
}

const SHOWN_MS = 8_000;

class NoticeStore {
  #notices: readonly Notice[] = [];
  #nextId = 1;
  readonly #listeners = new Set<() => void>();

  get = (): readonly Notice[] => this.#notices;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** What failed stays until the user closes it. */
  add(notice: Omit<Notice, "id">): void {
    const id = this.#nextId++;
    this.#set([...this.#notices, { ...notice, id }]);
    if (notice.kind === "done" && notice.undo === undefined) setTimeout(() => this.close(id), SHOWN_MS);
  }

  close(id: number): void {
    this.#set(this.#notices.filter((notice) => notice.id !== id));
  }

  #set(notices: readonly Notice[]): void {
    this.#notices = notices;
    for (const listener of this.#listeners) listener();
  }
}

const store = new NoticeStore();

/** Says that something was done, with a way back if there is one. */
export const notifyDone = (text: string, undo?: () => void): void => store.add({ kind: "done", text, undo });

/** Says that something failed, in the words of the server. */
export function notifyFailed(error: unknown): void {
  const reference = error instanceof ApiCallError ? error.requestId : undefined;
  store.add({ kind: "failed", text: errorTexts(error).join(" "), reference });
}

export function Notices(): ReactElement {
  const notices = useSyncExternalStore(store.subscribe, store.get);
  return (
    <section aria-label="Notices" aria-live="polite" className="notices">
      {notices.map(({ id, kind, text, reference, undo }) => (
        <div key={id} className={`notice ${kind}`}>
          <p>
            {text}
            {reference !== undefined && <small> Reference: {reference}</small>}
          </p>
          {undo !== undefined && (
            <button
              type="button"
              className="plain"
              onClick={() => {
                undo();
                store.close(id);
              }}
            >
              Undo
            </button>
          )}
          <button type="button" className="plain" onClick={() => store.close(id)} aria-label={`Close: ${text}`}>
            Close
          </button>
        </div>
      ))}
    </section>
  );
}
