// Keyboard shortcuts. Single letters can be turned off (WCAG 2.1.4), and do nothing while the user types.
import { useEffect, useRef, useSyncExternalStore } from "react";
import { settings } from "../settings.ts";

interface Shortcut {
  /** The value of `event.key`, or two of them with a space: one after the other. */
  readonly keys: string;
  readonly name: string;
  readonly run: (event: KeyboardEvent) => void;
}

const SEQUENCE_MS = 1_500;

class Shortcuts {
  #all: readonly Shortcut[] = [];
  #first: { readonly key: string; readonly at: number } | null = null;
  #isListOpen = false;
  readonly #listeners = new Set<() => void>();

  get all(): readonly Shortcut[] {
    return this.#all;
  }

  get isListOpen(): boolean {
    return this.#isListOpen;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  add(shortcut: Shortcut): () => void {
    this.#all = [...this.#all, shortcut];
    this.#notify();
    return () => {
      this.#all = this.#all.filter((other) => other !== shortcut);
      this.#notify();
    };
  }

  setListOpen(value: boolean): void {
    this.#isListOpen = value;
    this.#notify();
  }

  handle = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !areLettersOn()) return;
    if (isTyping(event.target) || document.querySelector("dialog[open]") !== null) return;
    const isNext = this.#first !== null && event.timeStamp - this.#first.at < SEQUENCE_MS;
    const keys = isNext ? `${this.#first!.key} ${event.key}` : event.key;
    const shortcut = this.#all.findLast((candidate) => candidate.keys === keys);
    const isStart = this.#all.some((candidate) => candidate.keys.startsWith(`${event.key} `));
    this.#first = shortcut === undefined && isStart ? { key: event.key, at: event.timeStamp } : null;
    if (shortcut === undefined) return;
    event.preventDefault();
    shortcut.run(event);
  };

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

export const shortcuts = new Shortcuts();

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName)) &&
  !(target instanceof HTMLInputElement && ["checkbox", "radio"].includes(target.type));

const areLettersOn = (): boolean => settings.get().keys ?? true;
export const setLetters = (on: boolean): void => settings.change({ keys: on ? null : false });

export const openShortcuts = (): void => shortcuts.setListOpen(true);
export const useShortcutList = (): readonly Shortcut[] =>
  useSyncExternalStore(shortcuts.subscribe, () => shortcuts.all);
export const useShortcutListOpen = (): boolean => useSyncExternalStore(shortcuts.subscribe, () => shortcuts.isListOpen);

/** A shortcut while the component is on screen. The one that was added last wins. */
export function useShortcut(keys: string, name: string, run: (event: KeyboardEvent) => void, isOn = true): void {
  const newest = useRef(run);
  newest.current = run;
  useEffect(
    () => (isOn ? shortcuts.add({ keys, name, run: (event) => newest.current(event) }) : undefined),
    [keys, name, isOn],
  );
}
