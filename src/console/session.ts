// The user's session, as the page of the console contains it.
import { useSyncExternalStore } from "react";
import { type Action, allows } from "../api/access.ts";
import type { ConsoleSession } from "../api/console.ts";

type State =
  | { readonly kind: "signed-in" }
  /** The server no longer accepts the session. What the user has typed stays until it has signed in again. */
  | { readonly kind: "over" };

class SessionStore {
  #data: ConsoleSession = JSON.parse(document.getElementById("session")?.textContent ?? "null");
  #state: State = { kind: "signed-in" };
  readonly #listeners = new Set<() => void>();

  get data(): ConsoleSession {
    return this.#data;
  }

  get state(): State {
    return this.#state;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  end(): void {
    this.#set({ kind: "over" });
  }

  /** Changes the stored settings of the user, after the server has stored them. */
  setSettings(settings: ConsoleSession["settings"]): void {
    this.#data = { ...this.#data, settings };
    this.#set(this.#state);
  }

  /**
   * Reads the session of this browser again: after the user has signed in in another tab. Another user gets a new page,
   * because the present one shows what the user before may see. Returns whether there is a session.
   */
  async renew(): Promise<boolean> {
    const reply = await fetch("/session", { credentials: "same-origin", redirect: "manual", cache: "no-store" });
    if (!reply.ok) return false;
    const data = (await reply.json()) as ConsoleSession;
    if (data.user.id !== this.#data.user.id) {
      location.reload();
      return true;
    }
    this.#data = data;
    this.#set({ kind: "signed-in" });
    return true;
  }

  #set(state: State): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

export const session = new SessionStore();

export const useSession = (): ConsoleSession => useSyncExternalStore(session.subscribe, () => session.data);
export const useSessionState = (): State => useSyncExternalStore(session.subscribe, () => session.state);

/** Whether the user's roles allow the action on objects of that team. Null: objects without a team, or of all teams. */
export const may = (action: Action, teamId: number | null): boolean => allows(session.data.user, action, teamId);

/** Whether the user's roles allow the action globally or on any team. */
export const maySomewhere = (action: Action): boolean => {
  const { global_role, teams } = session.data.user;
  return global_role === null ? teams.some(({ id }) => may(action, id)) : may(action, null);
};

export const isPremium = (): boolean => session.data.tier === "premium";
