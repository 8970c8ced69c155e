// Views that the user has pinned to the navigation.
import type { ReactElement } from "react";
import type { View } from "../../../api/settings/views.ts";
import { settings, useSettings } from "../../settings.ts";
import { pinOfView } from "./view-href.ts";

type NamedView = Pick<View, "id" | "page">;

export function setPinned(view: NamedView, on: boolean): void {
  const pin = pinOfView(view);
  if (pin === null) return;
  const others = (settings.get().pinned ?? []).filter((other) => other !== pin);
  settings.change({ pinned: on ? [...others, pin] : others });
}

export function usePins(): { readonly has: (view: NamedView) => boolean } {
  const { pinned = [] } = useSettings();
  return {
    has: (view) => {
      const pin = pinOfView(view);
      return pin !== null && pinned.includes(pin);
    },
  };
}

/** Pins the view to the navigation, or takes it away from there. */
export function PinButton({ view }: { readonly view: View }): ReactElement | null {
  const isPinned = usePins().has(view);
  if (pinOfView(view) === null) return null;
  return (
    <button
      type="button"
      className="plain small"
      aria-label={`Pin ${view.name}`}
      aria-pressed={isPinned}
      onClick={() => setPinned(view, !isPinned)}
    >
      {isPinned ? "Pinned" : "Pin"}
    </button>
  );
}
