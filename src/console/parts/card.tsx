import { type ReactElement, type ReactNode, useId } from "react";
import { PageLink } from "../frame/page-link.tsx";
import type { UrlChange } from "../url.ts";

interface CardProps {
  readonly title: string;
  /** Where everything is of which the card shows a part. */
  readonly more?: { readonly name: string; readonly href: string; readonly query?: UrlChange };
  readonly children: ReactNode;
}

export function Card({ title, more, children }: CardProps): ReactElement {
  const id = useId();
  return (
    <section className="card" aria-labelledby={id}>
      <div className="card-head">
        <h2 id={id}>{title}</h2>
        {more !== undefined && (
          <PageLink href={more.href} {...(more.query === undefined ? {} : { query: more.query })}>
            {more.name}
          </PageLink>
        )}
      </div>
      {children}
    </section>
  );
}
