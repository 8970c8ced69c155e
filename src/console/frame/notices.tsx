import { type ReactElement, type ReactNode, useSyncExternalStore } from "react";
import { ApiCallError } from "../../client/errors.ts";
import { errorTexts } from "../parts/error-texts.ts";
import { PageLink } from "./page-link.tsx";

/** Takes back what was done. What it says is shown, or why it failed. */
export type Undo = () => Promise<string>;

export interface Notice {
  readonly id: number;
  readonly kind: "done" | "failed";
  readonly text: string;
  /** The id under which the server logged an error. */
  readonly reference?: string | undefined;
  readonly undo?: Undo | undefined;
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

  /** What failed stays until the user closes it. A notice that repeats another stands in for it. */
  add(notice: Omit<Notice, "id">): void {
    const id = this.#nextId++;
    this.#set([...this.#notices.filter((before) => !isRepeated(before, notice)), { ...notice, id }]);
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

const isRepeated = (before: Notice, { kind, text, undo, link }: Omit<Notice, "id">): boolean =>
  before.undo === undefined &&
  undo === undefined &&
  before.kind === kind &&
  before.text === text &&
  before.link?.href === link?.href;

const store = new NoticeStore();

/** Says that something was done; with a way back only if nothing of it remains afterwards, which keeps the notice. */
export const notifyDone = (text: string, options: Pick<Notice, "undo" | "link"> = {}): void =>
  store.add({ kind: "done", text, ...options });

/** Says that something failed, in the words of the server, after what it means for the user. */
export function notifyFailed(error: unknown, about?: string): void {
  const reference = error instanceof ApiCallError ? error.requestId : undefined;
  const text = errorTexts(error).join(" ");
  store.add({ kind: "failed", text: about === undefined ? text : `${about}: ${text}`, reference });
}

async function takeBack(id: number, undo: Undo): Promise<void> {
  store.close(id);
  try {
    notifyDone(await undo());
  } catch (error) {
    notifyFailed(error, "It could not be undone");
  }
}

/** What was done and what failed. `children`: what is said about the whole page. */
export function Notices({ children }: { readonly children: ReactNode }): ReactElement {
  const notices = useSyncExternalStore(store.subscribe, store.get);
  return (
    <section aria-label="Notices" aria-live="polite" className="notices">
      {children}
      {notices.map((notice) => (
        <NoticeLine key={notice.id} notice={notice} />
      ))}
    </section>
  );
}

function NoticeLine({ notice }: { readonly notice: Notice }): ReactElement {
  const { id, kind, text, reference, undo, link } = notice;
  return (
    <div className={`notice ${kind}`}>
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
        <button type="button" className="plain" onClick={() => void takeBack(id, undo)}>
          Undo
        </button>
      )}
      <button type="button" className="plain" onClick={() => store.close(id)} aria-label={`Close: ${text}`}>
        Close
      </button>
    </div>
  );
}
