import { type ReactElement, useSyncExternalStore } from "react";
import { ApiCallError } from "../../client/errors.ts";
import { errorTexts } from "../parts/error-texts.ts";
import { PageLink } from "./page-link.tsx";

export interface Notice {
  readonly id: number;
  readonly kind: "done" | "failed";
  readonly text: string;
  /** The id under which the server logged an error. */
  readonly reference?: string | undefined;
  readonly undo?: (() => void) | undefined;
  /** Where more about it is. */
  readonly link?: NoticeLink | undefined;
}

interface NoticeLink {
  readonly text: string;
  readonly href: string;
}

const SHOWN_MS = 8_000;
/** A notice with a link has to be read before it can be followed. */
const SHOWN_WITH_LINK_MS = 30_000;

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
    if (notice.kind === "done" && notice.undo === undefined)
      setTimeout(() => this.close(id), notice.link === undefined ? SHOWN_MS : SHOWN_WITH_LINK_MS);
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

/** Says that something was done, with a way back if there is one, which keeps the notice until it is closed. */
export const notifyDone = (text: string, options: Pick<Notice, "undo" | "link"> = {}): void =>
  store.add({ kind: "done", text, ...options });

/** Says that something failed, in the words of the server. */
export function notifyFailed(error: unknown): void {
  const reference = error instanceof ApiCallError ? error.requestId : undefined;
  store.add({ kind: "failed", text: errorTexts(error).join(" "), reference });
}

export function Notices(): ReactElement {
  const notices = useSyncExternalStore(store.subscribe, store.get);
  return (
    <section aria-label="Notices" aria-live="polite" className="notices">
      {notices.map(({ id, kind, text, reference, undo, link }) => (
        <div key={id} className={`notice ${kind}`}>
          <p>
            {text}
            {reference !== undefined && <small> Reference: {reference}</small>}
            {link !== undefined && (
              <>
                {" "}
                <PageLink href={link.href}>{link.text}</PageLink>
              </>
            )}
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
