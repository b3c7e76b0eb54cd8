import HealthStore
import NIOCore
import NIOHTTP1
import OperatingSystem
import PeerProtocol

/// The batches of one answer of the change feed, as they arrive.
///
/// Every batch makes progress: it has changes and another token than the previous one, or it is the last of the
/// answer.
struct IncomingFeed: IncomingAnswer {
  let peerName: String?
  let machine: MachineMark?
  let expected: Int?
  let owner: RecordOwner?
  var bytesReceived: Int { connection.bytesReceived }

  private let connection: PeerConnection
  private let heard: (@Sendable (_ bytes: Int) -> Void)?
  private var limits: ClientLimits { connection.limits }
  private var decoder: ChangeFeedDecoder
  private var lastToken: String?
  private var hasEnded = false
  private var isOver = false
  private var failure: (any Error)?
  /// The time spent waiting for the arriving batch.
  private var waited = Duration.zero
  private let clock = ClientNetwork.current.clock

  /// Starts reading an answer. Throws ``PeerError/unexpectedAnswer(status:message:)`` for an answer in neither
  /// format, or ``ChangeFeedError/otherVersion`` as ``PeerError/feed(_:)`` for the format of another version of
  /// hpeer.
  ///
  /// - Parameters:
  ///   - since: the token of the request.
  ///   - owner: see ``IncomingAnswer/owner``.
  ///   - heard: called with the number of answer bytes received on the connection, whenever it grows.
  init(
    _ connection: PeerConnection, _ head: HTTPResponseHead, since: String?, owner: RecordOwner?,
    heard: (@Sendable (_ bytes: Int) -> Void)? = nil
  ) throws {
    let type = head.headers.first(name: "Content-Type")
    guard let format = ChangeFeedFormat(contentType: type) else {
      if let type, ChangeFeedFormat.isColumns(type) { throw PeerError.feed(.otherVersion) }
      let words = connection.limits.shortened(type ?? "nothing")
      throw PeerError.unexpectedAnswer(status: Int(head.status.code), message: "no change feed, but \(words)")
    }
    peerName = head.headers.first(name: PeerName.header).flatMap(PeerName.decoded)
    machine = head.headers.first(name: MachineMark.header).flatMap { MachineMark(text: $0) }
    expected = head.headers.first(name: ChangeFeed.expectedHeader).flatMap { WireCount($0) }?.rawValue
    self.owner = owner
    self.connection = connection
    self.heard = heard
    lastToken = since
    decoder = ChangeFeedDecoder(format, limits: connection.limits)
  }

  mutating func batches(during write: Ongoing?, beside bytes: Int) async -> IncomingBatches {
    var arrival = IncomingBatches()
    do {
      repeat {
        let before = decoder.contentBytes
        guard let batch = try await next() else { break }
        arrival.batches.append(batch)
        arrival.bytes += decoder.contentBytes - before
      } while arrival.batches.count < limits.batchesAhead && bytes + arrival.bytes < limits.bytesAhead
        && write?.isUnderWay == true
    } catch {
      (isOver, failure) = (true, error)
    }
    return arrival
  }

  func requireEnd() throws {
    if let failure { throw failure }
  }

  private mutating func next() async throws -> ChangeFeedBatch? {
    // After the end of the answer, another read would wait for an answer to a request that is never sent.
    while !isOver {
      do throws(ChangeFeedError) {
        if let batch = try decoder.next() { return try checked(batch) }
      } catch {
        throw PeerError.feed(error)
      }
      let elapsed = clock.stopwatch()
      let part = try await connection.nextBodyPart()
      waited += elapsed()
      guard let part else {
        isOver = true
        guard decoder.isBetweenBatches else { throw PeerError.feed(.cutOff) }
        return nil
      }
      heard?(connection.bytesReceived)
      try Task.checkCancellation()
      guard waited < limits.batchTime else {
        throw PeerError.tooSlow(
          endpoint: connection.endpoint.description, seconds: Int(limits.batchTime.components.seconds))
      }
      part.withUnsafeReadableBytes { decoder.receive($0) }
    }
    return nil
  }

  private mutating func checked(_ batch: ChangeFeedBatch) throws(ChangeFeedError) -> ChangeFeedBatch {
    guard (1...limits.tokenBytes).contains(batch.token.utf8.count) else {
      throw .badToken(bytes: batch.token.utf8.count)
    }
    guard !hasEnded, !batch.more || !batch.changes.isEmpty && batch.token != lastToken else { throw .noProgress }
    (lastToken, hasEnded, waited) = (batch.token, !batch.more, .zero)
    return batch
  }
}
