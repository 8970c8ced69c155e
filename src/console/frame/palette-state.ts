import { useSyncExternalStore } from "react";

let isOpen = false;
const listeners = new Set<() => void>();

function setOpen(value: boolean): void {
  isOpen = value;
  for (const listener of listeners) listener();
}

export const openPalette = (): void => setOpen(true);
export const closePalette = (): void => setOpen(false);
export const usePaletteOpen = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isOpen,
  );
