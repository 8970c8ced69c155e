import { Component, type ReactNode } from "react";
import { ErrorMessage } from "../parts/error-message.tsx";

interface State {
  readonly error: unknown;
}

/** Shows what broke a page in its place; the frame stays. */
export class ErrorBoundary extends Component<{ readonly children: ReactNode }, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: unknown): State {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    return (
      <>
        <h1>Something went wrong</h1>
        <ErrorMessage error={this.state.error} onRetry={() => this.setState({ error: null })} />
      </>
    );
  }
}
