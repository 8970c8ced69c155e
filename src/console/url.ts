// The URL is the state of a page: filters, order, page, tab and open panel. Back and reload restore them.
import { useCallback } from "react";
import { useLocation, useSearchParams } from "wouter";

/** New values by name; null removes a parameter. */
export type UrlChange = Readonly<Record<string, string | number | boolean | null | undefined>>;

interface UrlState {
  readonly get: (name: string) => string | null;
  readonly all: URLSearchParams;
  /** `replace`: without a step in the browser's history, for what changes while one types. */
  readonly set: (change: UrlChange, options?: { readonly replace?: boolean }) => void;
}

export function useUrl(): UrlState {
  const [all, setAll] = useSearchParams();
  const set = useCallback(
    (change: UrlChange, { replace = false }: { replace?: boolean } = {}) =>
      setAll((before) => changed(before, change), { replace }),
    [setAll],
  );
  return { all, get: (name) => all.get(name), set };
}

function changed(before: URLSearchParams, change: UrlChange): URLSearchParams {
  const next = new URLSearchParams(before);
  for (const [name, value] of Object.entries(change)) {
    if (value === null || value === undefined || value === "") next.delete(name);
    else next.set(name, String(value));
  }
  return next;
}

/** The team whose objects the page shows. Null: all that the user may see. 0: hosts without a team. */
export function useTeamId(): number | null {
  const text = useUrl().get("team_id");
  return text !== null && /^\d+$/.test(text) ? Number(text) : null;
}

/** A path with parameters, and with the team of the page, which stays from page to page. */
export function usePath(): (path: string, query?: UrlChange) => string {
  const teamId = useTeamId();
  return (path, query = {}) => {
    const [place = "", ownQuery = ""] = path.split("?");
    const parameters = new URLSearchParams(ownQuery);
    const search = changed(parameters, {
      ...(parameters.has("team_id") ? {} : { team_id: teamId }),
      ...query,
    }).toString();
    return search === "" ? place : `${place}?${search}`;
  };
}

/** Opens a page, with the team of the present one. */
export function useGo(): (path: string, query?: UrlChange) => void {
  const [, navigate] = useLocation();
  const to = usePath();
  return (path, query) => navigate(to(path, query));
}
