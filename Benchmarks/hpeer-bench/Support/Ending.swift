import Dispatch
import Foundation

/// A cleanup that kills child processes and removes the workspace at the end of a run or when it is interrupted.
struct Ending {
  private let workspace: Workspace
  private let sources: [any DispatchSourceSignal]

  init(_ workspace: Workspace) {
    self.workspace = workspace
    signal(SIGPIPE, SIG_IGN)
    sources = [SIGINT, SIGTERM, SIGHUP].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        Children.shared.killAll()
        workspace.clean()
        exit(128 + number)
      }
      source.activate()
      return source
    }
  }

  func clean() {
    Children.shared.killAll()
    workspace.clean()
  }
}
