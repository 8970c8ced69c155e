import { Component, type ReactNode } from "react";
import { ErrorMessage } from "../parts/error-message.tsx";
import { isLoadFailure, isServed } from "./page-scripts.ts";

interface State {
  readonly error: unknown;
}

/** Shows what broke a page in its place; the frame stays. */
export class ErrorBoundary extends Component<{ readonly children: ReactNode }, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: unknown): State {
    return { error };
  }

  /** Browsers do not load a script again that failed; a new page does, once the server responds. */
  async #retry(): Promise<void> {
    if (!isLoadFailure(this.state.error)) this.setState({ error: null });
    else if (await isServed()) location.reload();
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    return (
      <>
        <h1>Something went wrong</h1>
        <ErrorMessage error={asWords(this.state.error)} onRetry={() => void this.#retry()} />
      </>
    );
  }
}

const asWords = (error: unknown): unknown =>
  isLoadFailure(error) ? new Error("the page could not be loaded: the server does not respond") : error;
