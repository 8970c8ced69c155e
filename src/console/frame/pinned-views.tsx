import type { ReactElement } from "react";
import { viewsApi } from "../../api/settings/views.ts";
import { useRead } from "../api.ts";
import { VIEW, viewOfPin } from "../parts/list/view-href.ts";
import { useSettings } from "../settings.ts";
import { useUrl } from "../url.ts";
import { PageLink } from "./page-link.tsx";

/** How long the names of views are used, in milliseconds: others change them rarely. */
const FRESH_MS = 60_000;

/** What the user has pinned: views by their names, and other pages by their addresses. */
export function PinnedViews({ onFollow }: { readonly onFollow?: () => void }): ReactElement | null {
  const { pinned = [] } = useSettings();
  const pages = pinned.filter((pin) => /^\/(?!\/)/.test(pin));
  const opened = useUrl().get(VIEW);
  const hasViews = pages.some((pin) => viewOfPin(pin) !== null);
  const { data } = useRead(viewsApi.list, { query: {} }, { enabled: hasViews, staleTime: FRESH_MS });
  const nameOf = (pin: string): string | undefined => {
    const id = viewOfPin(pin);
    if (id === null) return pin;
    // The place is kept until the names are there, so that nothing moves.
    return data === undefined ? "…" : data.views.find((view) => view.id === id)?.name;
  };
  const entries = pages.map((pin) => ({ pin, name: nameOf(pin) })).filter(({ name }) => name !== undefined);
  if (entries.length === 0) return null;
  return (
    <ul aria-label="Pinned" className="pinned">
      {entries.map(({ pin, name }) => (
        <li key={pin}>
          <PageLink
            href={pin}
            query={{ team_id: null }}
            aria-current={opened !== null && Number(opened) === viewOfPin(pin) ? "page" : undefined}
            {...(onFollow === undefined ? {} : { onClick: onFollow })}
          >
            {name}
          </PageLink>
        </li>
      ))}
    </ul>
  );
}
