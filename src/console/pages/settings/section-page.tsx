import type { ReactElement, ReactNode } from "react";
import { Page } from "../../frame/page.tsx";
import { PageLink } from "../../frame/page-link.tsx";
import { nameOfSection, ownSections, type SectionId } from "./sections.ts";

interface SectionPageProps {
  readonly id: SectionId;
  /** The name of the object, for the page of one of the objects of the section. */
  readonly item?: string;
  /** The main buttons beside the heading. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A section of the settings, beside the navigation to the others. */
export function SectionPage({ id, item, actions, children }: SectionPageProps): ReactElement {
  const name = nameOfSection(id);
  return (
    <div className="sections">
      <nav aria-label="Sections" className="section-nav">
        <ul>
          {ownSections().map((section) => (
            <li key={section.id}>
              <PageLink href={`/settings/${section.id}`} aria-current={section.id === id ? "page" : undefined}>
                {section.name}
              </PageLink>
            </li>
          ))}
        </ul>
      </nav>
      <div className="section-content">
        <Page
          title={item ?? name}
          actions={actions}
          {...(item === undefined ? {} : { breadcrumb: [{ name, href: `/settings/${id}` }] })}
        >
          {children}
        </Page>
      </div>
    </div>
  );
}
