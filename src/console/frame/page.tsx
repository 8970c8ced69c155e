import { type ReactElement, type ReactNode, useEffect } from "react";
import { useSession } from "../session.ts";
import { HelpButton } from "./help-button.tsx";
import { PageLink } from "./page-link.tsx";

interface PageProps {
  readonly title: string;
  /** What stands beside the heading: the main button of the page. */
  readonly actions?: ReactNode;
  readonly breadcrumb?: readonly { readonly name: string; readonly href: string }[];
  readonly children: ReactNode;
}

/** The content of a page below its heading. */
export function Page({ title, actions, breadcrumb, children }: PageProps): ReactElement {
  const { organization } = useSession();
  useEffect(() => {
    document.title = `${title} - ${organization.name}`;
  }, [title, organization.name]);
  return (
    <>
      {breadcrumb !== undefined && (
        <nav aria-label="Breadcrumb" className="breadcrumb">
          <ol>
            {breadcrumb.map(({ name, href }) => (
              <li key={href}>
                <PageLink href={href}>{name}</PageLink>
              </li>
            ))}
          </ol>
        </nav>
      )}
      <div className="page-head">
        <h1>{title}</h1>
        <div className="page-actions">
          {actions}
          <HelpButton />
        </div>
      </div>
      {children}
    </>
  );
}
