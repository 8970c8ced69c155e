import { type ReactElement, Suspense, useEffect, useRef } from "react";
import { Route, Switch, useLocation } from "wouter";
import { pages } from "../pages.ts";
import { type RouteName, routes } from "../routes.ts";
import { Banner } from "./banner.tsx";
import { ConnectionNotice } from "./connection.tsx";
import { ErrorBoundary } from "./error-boundary.tsx";
import { GitopsBanner } from "./gitops-banner.tsx";
import { Navigation } from "./navigation.tsx";
import { Notices } from "./notices.tsx";
import { Page } from "./page.tsx";
import { RouteProvider } from "./route.ts";
import { SessionDialog } from "./session-dialog.tsx";
import { GlobalShortcuts } from "./shortcuts-dialog.tsx";

/** Pages of one object, which the address names by its number. */
const numbered: ReadonlySet<string> = new Set<RouteName>(["host", "hostTab", "softwareTitle", "policy", "query"]);

export function App(): ReactElement {
  const [path] = useLocation();
  const main = useRef<HTMLElement>(null);
  useFocusOnNavigation(path, main);
  return (
    <>
      <Banner />
      <div className="frame">
        <Navigation />
        <main id="main" tabIndex={-1} ref={main}>
          <GitopsBanner />
          <ErrorBoundary key={path}>
            <Suspense fallback={<p className="loading">Loading</p>}>
              <Switch>
                {Object.entries(routes).map(([name, pattern]) => {
                  const Content = pages[name as RouteName];
                  return (
                    <Route key={name} path={pattern}>
                      {({ id }: { readonly id?: string }) =>
                        numbered.has(name) && !/^\d+$/.test(id ?? "") ? (
                          <NoPage path={path} />
                        ) : (
                          <RouteProvider value={name as RouteName}>
                            <Content />
                          </RouteProvider>
                        )
                      }
                    </Route>
                  );
                })}
                <Route>
                  <NoPage path={path} />
                </Route>
              </Switch>
            </Suspense>
          </ErrorBoundary>
        </main>
      </div>
      <Notices>
        <ConnectionNotice />
      </Notices>
      <GlobalShortcuts />
      <SessionDialog />
    </>
  );
}

function NoPage({ path }: { readonly path: string }): ReactElement {
  return (
    <Page title="This page does not exist">
      <p>Nothing is at {path}.</p>
    </Page>
  );
}

/** After a link to another page, keyboards and screen readers continue in its content, as after loading a page. */
function useFocusOnNavigation(path: string, main: React.RefObject<HTMLElement | null>): void {
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    main.current?.focus({ preventScroll: true });
    scrollTo({ top: 0 });
  }, [path, main]);
}
