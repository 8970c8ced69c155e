import { useQueryClient } from "@tanstack/react-query";
import { type ReactElement, useEffect, useSyncExternalStore } from "react";
import { isTemporary, REFRESH_MS } from "../api.ts";
import { exactTime } from "../parts/time.tsx";

/** Says that what is on screen cannot be read again now, from when it is, and that this is being tried. */
export function ConnectionNotice(): ReactElement | null {
  const queries = useQueryClient();
  const cache = queries.getQueryCache();
  const readAt = useSyncExternalStore(
    (listener) => cache.subscribe(listener),
    () => oldestTime(cache),
  );
  const isLost = readAt !== null;
  useEffect(() => {
    document.documentElement.toggleAttribute("data-lost", isLost);
  }, [isLost]);
  if (!isLost) return null;
  return (
    <div className="notice failed">
      <p>
        The server does not respond.
        {readAt > 0 && ` What is shown was read at ${exactTime(readAt)}.`} It is tried again every {REFRESH_MS / 1000}{" "}
        seconds; nothing is changed meanwhile.
      </p>
      <button type="button" className="plain" onClick={() => void queries.refetchQueries({ type: "active" })}>
        Try now
      </button>
    </div>
  );
}

/** When the oldest of what cannot be read again was read; 0: it never was. Null: everything could be read. */
function oldestTime(cache: ReturnType<ReturnType<typeof useQueryClient>["getQueryCache"]>): number | null {
  const times = cache
    .findAll({ type: "active" })
    .filter(({ state }) => state.status === "error" && isTemporary(state.error))
    .map(({ state }) => state.dataUpdatedAt);
  const ofData = times.filter((time) => time > 0);
  if (times.length === 0) return null;
  return ofData.length === 0 ? 0 : Math.min(...ofData);
}
