import HealthModel

/// One step of a history. Says all of itself, so that others can be left out.
indirect enum Step: Sendable {
  /// Samples by their numbers in the ``World``, all in one spelling.
  case add(machine: Int, samples: [Int], spelling: Int)
  case delete(machine: Int, samples: [Int], seconds: Int64)
  /// What starts within the hour after one sample, and has its type.
  case deleteHour(machine: Int, of: Int)
  /// A reading of a day's activity rings, which takes the place of older ones.
  case drift(machine: Int, day: Int, value: Int, readAt: Int64)
  case pull(PullStep)
  /// A batch that came earlier is committed again, with the token that followed it.
  case replay(machine: Int, from: Int, selection: Int, age: Int)
  /// A machine takes another's token for that of the one that it pulls from.
  case foreignToken(machine: Int, from: Int, other: Int, selection: Int)
  /// Tombstones from before some second are forgotten; `nil` for all.
  case prune(machine: Int, before: Int64?)
  /// The file of a store is put aside.
  case copy(machine: Int)
  /// A machine gets a file that was put aside, of its own or, as a clone, of another.
  case restore(machine: Int, copy: Int)
  /// A second process opens the store, and goes on in place of the first.
  case reopen(machine: Int)
  /// The process from before goes on, which has had the store open all the while.
  case takeTurns(machine: Int)
}

/// How one machine pulls from another.
struct PullStep: Sendable {
  var into: Int
  var from: Int
  /// Which of ``World/selections`` is asked for.
  var selection = 0
  /// Which of ``World/bounds`` the server has set.
  var bound = 0
  var pageSize: Int
  /// After so many pages a request ends.
  var pages = Int.max
  var isFull = false
  var fault = Fault.none
  /// What happens after the first page has come.
  var meanwhile: [Step] = []

  enum Fault: Sendable {
    case none
    /// The connection breaks after so many batches.
    case cut(after: Int)
    /// The batch with this number comes, and the process ends before it is committed.
    case crash(at: Int)
    /// The batch with this number is committed twice.
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
