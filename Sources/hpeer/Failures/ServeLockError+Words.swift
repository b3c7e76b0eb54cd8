import HealthOperations

extension ServeLockError: WordedError {
  var status: ExitStatus {
    switch self {
    case .held: .storeLocked
    case .unusable: .other
    }
  }

  var sentence: String {
    switch self {
    case .held(let holder):
      "hpeer is already serving this store\(holder.map { " (process \($0))" } ?? ""): stop it first, or give this one another store with --home."
    case .unusable(let path, let reason): "\(path) cannot be used: \(reason)."
    }
  }
}
