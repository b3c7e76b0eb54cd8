import NIOCore
import NIOHTTP1
import PeerProtocol

/// The batches of one answer of the change feed, as they arrive.
struct IncomingFeed {
  /// What is held in memory while the store writes.
  private static let maximumBatches = 4
  /// In bytes. A token goes into a URL.
  private static let maximumToken = 1_000

  private let connection: PeerConnection
  private let heard: (@Sendable (_ bytes: Int) -> Void)?
  private var decoder: ChangeFeedDecoder
  private var decoded: ArraySlice<ChangeFeedBatch> = []
  private var isOver = false
  private var failure: (any Error)?

  /// Throws ``PeerError/unexpectedAnswer(status:message:)`` for an answer in neither format.
  ///
  /// - Parameter heard: told how many bytes of answers have come on the connection, whenever there are more.
  init(
    _ connection: PeerConnection, _ head: HTTPResponseHead, heard: (@Sendable (_ bytes: Int) -> Void)? = nil
  ) throws {
    let type = head.headers.first(name: "Content-Type")
    guard let format = ChangeFeedFormat(contentType: type) else {
      throw PeerError.unexpectedAnswer(
        status: Int(head.status.code), message: "no change feed, but \(type ?? "nothing")")
    }
    self.connection = connection
    self.heard = heard
    decoder = ChangeFeedDecoder(format)
  }

  /// Batches that have arrived: none at the end of the answer, else one, or more as long as `write` is under way.
  ///
  /// Whatever ends the answer early is kept for ``requireEnd()``: what came before it is to be saved first.
  mutating func batches(during write: Ongoing? = nil) async -> [ChangeFeedBatch] {
    var batches: [ChangeFeedBatch] = []
    do {
      repeat {
        guard let batch = try await next() else { break }
        batches.append(batch)
      } while batches.count < Self.maximumBatches && write?.isUnderWay == true
    } catch {
      (isOver, failure) = (true, error)
    }
    return batches
  }

  /// Throws what ended the answer early.
  func requireEnd() throws {
    if let failure { throw failure }
  }

  private mutating func next() async throws -> ChangeFeedBatch? {
    while decoded.isEmpty {
      // Asked again, the connection would wait for the answer to a request that nobody sends.
      guard !isOver else { return nil }
      guard let part = try await connection.nextBodyPart() else {
        isOver = true
        guard decoder.isBetweenBatches else { throw PeerError.feed(.cutOff) }
        return nil
      }
      heard?(connection.bytesReceived)
      try Task.checkCancellation()
      do {
        decoded = try part.withUnsafeReadableBytes { bytes throws(ChangeFeedError) in try decoder.decode(bytes) }[...]
      } catch {
        throw PeerError.feed(error)
      }
    }
    let batch = decoded.removeFirst()
    guard !batch.token.isEmpty, batch.token.utf8.count <= Self.maximumToken else {
      throw PeerError.unexpectedAnswer(status: 200, message: "a change token of \(batch.token.utf8.count) bytes")
    }
    return batch
  }
}
