import HealthModel
import HealthStore
import PeerProtocol

/// What is read of a phone with HealthAppTransfer: what is new of each type first, then what an interrupted walk has left,
/// then the types whose turn it is to be read from end to end.
struct HealthAppTransferReader: PhoneReader {
  typealias Walk = HealthAppTransferWalk
  typealias Position = HealthAppTransferPosition

  static let road = SampleRoad.healthAppTransfer
  /// How old the last walk through a type is when the next is due, in seconds: four weeks; where the counts do not agree a
  /// day, and twice as long each time that they did not agree after a walk either.
  private static let sweepAge: Int64 = 28 * 86_400
  private static let doubtfulSweepAge: Int64 = 86_400
  static func sweepAge(afterDoubts doubts: Int) -> Int64 {
    min(sweepAge, doubtfulSweepAge << Int64(min(max(doubts, 1) - 1, 5)))
  }
  /// Between two looks at a phone that is followed, in seconds.
  private static let pause = 15

  let client: HealthAppTransferClient
  var limits: ClientLimits { client.limits }
  var clock: any Clock<Duration> { client.clock }
  var now: Timestamp { client.now }
  var bytesReceived: Int { client.bytesReceived }
  var requests: Int { client.requests }

  /// The phone has nothing to tell that something is new.
  func pause(_ wait: Int) -> Int { min(wait, Self.pause) }

  func plan(_ position: inout Position, _ request: PhoneRequest) async throws -> PhonePlan<Walk> {
    let (known, unknown) = try await client.types()
    // Nothing at all is what a locked phone says, too.
    (position.listsNothing, position.unknown) = (known.isEmpty && unknown.isEmpty, unknown)
    let types = known.filter { request.types.isEmpty || request.types.contains($0.type) }
    let (now, states) = (client.now.seconds, position.types)
    var plan = PhonePlan<Walk>(listed: Set(known.map(\.name)))
    plan.add(.news, of: types)
    plan.add(.rest, of: types.filter { states[$0.name].map { $0.count == nil || $0.walk != nil } ?? true })
    if request.isHurried { return plan }
    if request.infersDeletions {
      plan.add(.sweep, of: types)
    } else {
      let due = types.filter { type in
        guard let state = states[type.name], state.walk == nil, let swept = state.swept else { return false }
        return now - swept > (state.isDoubtful ? Self.sweepAge(afterDoubts: state.doubts ?? 0) : Self.sweepAge)
      }
      plan.add(.sweep, of: due.sorted { states[$0.name]?.swept ?? 0 < states[$1.name]?.swept ?? 0 })
    }
    return plan
  }

  func walk(
    _ step: PhonePlan<Walk>.Step, from state: Position.TypeState, into store: HealthStore, sender: String?
  ) -> Walk {
    Walk(step.type, state, step.task, client, into: store, sender: sender)
  }
}
