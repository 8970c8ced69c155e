import type { ReactElement } from "react";
import { useLocation } from "wouter";
import { consolePaths } from "../routes.ts";
import { ownEntries } from "./entries.ts";
import { PageLink } from "./page-link.tsx";
import { PinnedViews } from "./pinned-views.tsx";

interface NavigationProps {
  /** An entry was followed. */
  readonly onFollow?: () => void;
}

export function Navigation({ onFollow }: NavigationProps): ReactElement {
  const [path] = useLocation();
  const isCurrent = (href: string) => (href === "/" ? path === "/" : path === href || path.startsWith(`${href}/`));
  return (
    <nav aria-label="Main" className="main-nav">
      <ul>
        {ownEntries()
          .filter(({ href }) => consolePaths.includes(href))
          .map(({ name, href }) => (
            <li key={href}>
              <PageLink
                href={href}
                aria-current={isCurrent(href) ? "page" : undefined}
                {...(onFollow === undefined ? {} : { onClick: onFollow })}
              >
                {name}
              </PageLink>
            </li>
          ))}
      </ul>
      <PinnedViews {...(onFollow === undefined ? {} : { onFollow })} />
    </nav>
  );
}
