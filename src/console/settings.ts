// What the user has set for the console. It is stored with the user, so that it is the same in every browser.
import { useSyncExternalStore } from "react";
import { changedConsole } from "../api/accounts/console-change.ts";
import type { ConsoleChange, ConsoleSettings } from "../api/accounts/user-settings.ts";
import { usersApi } from "../api/accounts/users.ts";
import { ApiCallError } from "../client/errors.ts";
import { client, request } from "./api.ts";
import { notifyFailed } from "./frame/notices.tsx";
import { session } from "./session.ts";

const PAUSE_MS = 400;
const RETRY_MS = 10_000;
/** Where a tab keeps what the server has not stored yet, in case that the page is loaded again before. */
const UNSENT = "svc-unsent-settings";

interface StoredChange {
  readonly userId: number;
  readonly change: ConsoleChange;
}

class SettingsStore {
  #current: ConsoleSettings;
  /** What was changed here and is not on its way to the server yet; and what is. */
  #unsent: ConsoleChange;
  #sending: ConsoleChange | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasFailed = false;
  readonly #listeners = new Set<() => void>();
  /** Tells the other tabs of this browser what was stored. */
  readonly #tabs = new BroadcastChannel("svc-settings");

  constructor() {
    this.#unsent = unsentOfTab();
    this.#current = this.#merged();
    if (Object.keys(this.#unsent).length > 0) this.#sendSoon(0);
    session.subscribe(() => this.#refresh());
    this.#tabs.addEventListener("message", ({ data }: MessageEvent<StoredChange>) => {
      if (data.userId === session.data.user.id) store(data.change);
    });
    addEventListener("pagehide", () => void this.#send());
  }

  get = (): ConsoleSettings => this.#current;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Applies a change at once, and has the server store it. Only what has changed is sent. */
  change(change: ConsoleChange): void {
    this.#unsent = joined(this.#unsent, change);
    this.#refresh();
    this.#sendSoon(PAUSE_MS);
  }

  #sendSoon(pause: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#send(), pause);
  }

  async #send(): Promise<void> {
    if (this.#sending !== null || Object.keys(this.#unsent).length === 0) return;
    const change = this.#unsent;
    this.#sending = change;
    this.#unsent = {};
    const userId = session.data.user.id;
    try {
      const input = { params: { id: String(userId) }, body: { settings: { console: change } } };
      await request(() => client.call(usersApi.modify, input, { keepalive: true }));
      this.#hasFailed = false;
      this.#sending = null;
      store(change);
      this.#tabs.postMessage({ userId, change } satisfies StoredChange);
      if (Object.keys(this.#unsent).length > 0) this.#sendSoon(0);
    } catch (error) {
      this.#sending = null;
      if (!isRefusal(error)) {
        this.#unsent = joined(change, this.#unsent);
        this.#sendSoon(RETRY_MS);
      }
      // A server that is gone is reported once, not with each try.
      if (!this.#hasFailed || isRefusal(error)) notifyFailed(error, "Your settings are not stored yet");
      this.#hasFailed = true;
      this.#refresh();
    }
  }

  #refresh(): void {
    this.#current = this.#merged();
    const change = joined(this.#sending ?? {}, this.#unsent);
    if (Object.keys(change).length === 0) sessionStorage.removeItem(UNSENT);
    else
      sessionStorage.setItem(UNSENT, JSON.stringify({ userId: session.data.user.id, change } satisfies StoredChange));
    for (const listener of this.#listeners) listener();
  }

  #merged(): ConsoleSettings {
    const stored = session.data.settings?.console ?? {};
    return changedConsole(changedConsole(stored, this.#sending ?? {}), this.#unsent);
  }
}

/** What the server has stored becomes part of the session's data. */
function store(change: ConsoleChange): void {
  const { hidden_host_columns = [], console = {} } = session.data.settings ?? {};
  session.setSettings({ hidden_host_columns, console: changedConsole(console, change) });
}

function unsentOfTab(): ConsoleChange {
  const text = sessionStorage.getItem(UNSENT);
  if (text === null) return {};
  const { userId, change } = JSON.parse(text) as StoredChange;
  return userId === session.data.user.id ? change : {};
}

/** One change after another, as one. */
const joined = (first: ConsoleChange, second: ConsoleChange): ConsoleChange => ({
  ...first,
  ...second,
  ...(first.columns && second.columns ? { columns: { ...first.columns, ...second.columns } } : {}),
});

/** Whether the server refuses the change itself, so that repeating it is useless. */
const isRefusal = (error: unknown): boolean =>
  error instanceof ApiCallError && error.status >= 400 && error.status < 500 && ![401, 429].includes(error.status);

export const settings = new SettingsStore();

export const useSettings = (): ConsoleSettings => useSyncExternalStore(settings.subscribe, settings.get);
