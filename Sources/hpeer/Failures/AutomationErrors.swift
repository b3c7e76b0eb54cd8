import HealthOperations

/// As the command ends that does the same.
extension AutomationFailure: WordedError {
  var status: ExitStatus {
    switch self {
    case .busy, .late, .program: .other
    case .noPeer, .nothingPaired: .refused
    case .cutOff: .badInput
    }
  }

  var sentence: String { description }
}

/// As `pull --all`: with what the first that failed ended.
extension PartialAutomation: WordedError {
  var status: ExitStatus { .of(cause) }
  var sentence: String { description }
}
