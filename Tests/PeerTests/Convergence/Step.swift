import HealthModel

/// A self-contained step of a history, so that other steps can be removed.
indirect enum Step: Sendable {
  /// An addition of samples, given by their numbers in the ``World``, all in the same spelling.
  case add(machine: Int, samples: [Int], spelling: Int)
  case delete(machine: Int, samples: [Int], seconds: Int64)
  /// A deletion of the samples of a sample's type that start within an hour after it.
  case deleteHour(machine: Int, of: Int)
  /// A reading of a day's activity rings, which replaces older readings.
  case drift(machine: Int, day: Int, value: Int, readAt: Int64)
  case pull(PullStep)
  /// A repeated commit of an earlier batch with its token.
  case replay(machine: Int, from: Int, selection: Int, age: Int)
  /// A pull in which the machine uses another server's token.
  case foreignToken(machine: Int, from: Int, other: Int, selection: Int)
  /// A pruning of tombstones from before a given second, or of all if `nil`.
  case prune(machine: Int, before: Int64?)
  /// A copy of a store's file.
  case copy(machine: Int)
  /// A replacement of a machine's file by a copy: its own, or another machine's, which makes it a clone.
  case restore(machine: Int, copy: Int)
  /// A switch to a second process that has opened the store.
  case reopen(machine: Int)
  /// A switch back to the previous process, which has had the store open all the time.
  case takeTurns(machine: Int)
}

/// The parameters of a pull.
struct PullStep: Sendable {
  var into: Int
  var from: Int
  /// The index of the requested selection in ``World/selections``.
  var selection = 0
  /// The index of the server's bound in ``World/bounds``.
  var bound = 0
  var pageSize: Int
  /// The number of pages after which a request ends.
  var pages = Int.max
  var isFull = false
  var fault = Fault.none
  /// The steps that happen after the first page has arrived.
  var meanwhile: [Step] = []

  enum Fault: Sendable {
    case none
    /// A connection that is cut after a number of batches.
    case cut(after: Int)
    /// A crash of the process after a batch has arrived and before it is committed.
    case crash(at: Int)
    /// A batch that is committed twice.
    case twice(at: Int)
  }
}

extension Step: CustomStringConvertible {
  var description: String {
    switch self {
    case .add(let machine, let samples, let spelling): "\(machine): add \(samples) spelling \(spelling)"
    case .delete(let machine, let samples, let seconds): "\(machine): delete \(samples) at \(seconds)"
    case .deleteHour(let machine, let sample): "\(machine): delete the hour of \(sample)"
    case .drift(let machine, let day, let value, let readAt): "\(machine): day \(day) reads \(value) at \(readAt)"
    case .pull(let pull): "\(pull)"
    case .replay(let machine, let from, let selection, let age):
      "\(machine): commit again what came from \(from) (selection \(selection)), \(age) batches ago"
    case .foreignToken(let machine, let from, let other, let selection):
      "\(machine): take a token of \(other) for one of \(from) (selection \(selection))"
    case .prune(let machine, let before): "\(machine): forget tombstones \(before.map { "before \($0)" } ?? "all")"
    case .copy(let machine): "\(machine): copy"
    case .restore(let machine, let copy): "\(machine): restore copy \(copy)"
    case .reopen(let machine): "\(machine): reopen"
    case .takeTurns(let machine): "\(machine): take turns"
    }
  }
}

extension PullStep: CustomStringConvertible {
  var description: String {
    var text = "\(into): pull from \(from), selection \(selection), bound \(bound), pages of \(pageSize)"
    if pages < .max { text += ", \(pages) a request" }
    if isFull { text += ", full" }
    switch fault {
    case .none: break
    case .cut(let batches): text += ", cut after \(batches)"
    case .crash(let batch): text += ", crash at \(batch)"
    case .twice(let batch): text += ", \(batch) twice"
    }
    return meanwhile.isEmpty ? text : text + ", meanwhile {\(meanwhile.map(\.description).joined(separator: "; "))}"
  }
}
