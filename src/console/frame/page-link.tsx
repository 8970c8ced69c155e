import type { ReactElement, ReactNode } from "react";
import { Link } from "wouter";
import { type UrlChange, usePath } from "../url.ts";

interface PageLinkProps {
  readonly href: string;
  readonly query?: UrlChange;
  readonly children: ReactNode;
  readonly className?: string;
  readonly "aria-current"?: "page" | undefined;
  readonly "aria-label"?: string;
  readonly onClick?: () => void;
}

/** A link to a page of the console, which keeps the team that is selected. */
export function PageLink({ href, query, children, ...rest }: PageLinkProps): ReactElement {
  const path = usePath();
  return (
    <Link href={path(href, query)} {...rest}>
      {children}
    </Link>
  );
}
