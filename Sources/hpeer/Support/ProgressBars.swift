import HealthOperations
import Terminal

/// An observer that shows the progress of an operation as bars on the terminal.
struct ProgressBars: ProgressObserver {
  func begin(_ stage: ProgressStage) -> any StageObserver {
    ProgressBar(
      label: Self.label(of: stage.work), totalItems: stage.totalItems, totalBytes: stage.totalBytes,
      patience: stage.patience, capabilities: Console.capabilities)
  }

  private static func label(of work: ProgressStage.Work) -> String {
    switch work {
    case .checking: "checking"
    case .importing: "importing"
    case .looking: "looking"
    case .restoring: "restoring"
    case .exporting: "export"
    case .backingUp: "backup"
    case .unpacking: "reading"
    case .pulling(let name), .verifying(let name): PlainText.escaped(name, limit: 20)
    }
  }
}

extension ProgressBar: StageObserver {}
