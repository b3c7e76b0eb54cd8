import Foundation
import GRDB
import HealthModel

/// Somebody on this machine who takes what happens in a store and passes it on, and whose position the store keeps: a
/// destination, a statistic, an index. Made by ``HealthStore/consumer(_:filter:whenNarrowed:receipt:)``.
///
/// ```swift
/// func printRoutes(of store: HealthStore) async throws {
///   let consumer = try await store.consumer("printer", filter: SampleFilter(types: [.workoutRoute]))
///   for try await page in consumer.pages() {
///     if page.startsOver { print("forget everything") }
///     for tombstone in page.deletions { print("-", tombstone.sample.uuid) }
///     for sample in try page.additions() { print("+", sample.uuid) }
///     try await consumer.commit(page)
///   }
/// }
/// ```
///
/// A page that was not committed comes again, perhaps with other bounds: whoever takes it must be able to take it twice, or
/// ask for repeatable pages and know them by their keys.
/// What was committed does not come again, whatever becomes of the filter or the process, unless a page says that
/// everything starts over.
///
/// With the store's file, a consumer's position goes back to that of the copy which was put in its place, and nothing in
/// the file says so. Whoever can keep a few bytes where it delivers to keeps ``ConsumerPage/receipt`` there, before the
/// commit, and gives it back with the next ``HealthStore/consumer(_:filter:whenNarrowed:receipt:)``.
///
/// Of every sample that it has, a consumer is told when it is deleted, also where its filter does not let that sample
/// through any more. It may be told of the deletion of a sample that it never had.
///
/// One process at a time works for a name: of two, the one that is late has ``StoreError/consumerChanged(name:)`` of
/// ``commit(_:)``.
public struct FeedConsumer: Sendable {
  /// The most changes of a page where nothing else is asked for.
  public static let defaultPageSize = 2_000
  /// So many changes that nobody wants may be read again, rather than noted with a commit each time.
  private static let tolerableRepetition: Int64 = 5_000

  /// Chosen by its owner; one consumer in the store has it.
  public let name: String
  /// What it wants. Once the store has another filter for this name, this object's pages and commits throw
  /// ``StoreError/consumerChanged(name:)``.
  public let filter: SampleFilter
  /// Whether it was not there before this object was asked for.
  public let isNew: Bool
  let store: HealthStore

  /// What was not committed yet, up to what there is now. Throws ``StoreError``; ends when its task is cancelled.
  ///
  /// - Parameters:
  ///   - size: the most changes of a page.
  ///   - repeatable: notes each page before it is handed out, which costs another commit: one that was not committed comes
  ///     again under the same ``ConsumerPage/key``, with the same changes, but for what is gone meanwhile.
  public func pages(ofAtMost size: Int = defaultPageSize, repeatable: Bool = false) -> ConsumerPages {
    ConsumerPages(consumer: self, size: size, follows: false, isRepeatable: repeatable)
  }

  /// What was not committed yet, and then what happens, whichever process of this machine does it. Throws ``StoreError``;
  /// ends when its task is cancelled.
  ///
  /// - Parameters: see ``pages(ofAtMost:repeatable:)``.
  public func following(ofAtMost size: Int = defaultPageSize, repeatable: Bool = false) -> ConsumerPages {
    ConsumerPages(consumer: self, size: size, follows: true, isRepeatable: repeatable)
  }

  /// Takes note that all of a page was dealt with: whatever it was passed on to has it for good.
  ///
  /// - Throws: ``StoreError/consumerChanged(name:)`` where it is not the consumer's next page any more: it was committed
  ///   before, the consumer was removed, its filter is another, or an import was undone. Ask for the next page then.
  public func commit(_ page: ConsumerPage) async throws(StoreError) {
    guard page.consumer == name, page.store == store.id else { throw .consumerChanged(name: name) }
    _ = try await replace(page.revision, with: page.state)
  }

  /// - Parameter revision: that the state was made from.
  /// - Returns: the new revision.
  private func replace(_ revision: Int64, with state: ConsumerState) async throws(StoreError) -> Int64 {
    try await store.write { [name] db in
      guard let next = try ConsumerRow.replace(revision, with: state, of: name, db) else {
        throw StoreError.consumerChanged(name: name)
      }
      return next
    }
  }

  // MARK: Reading ahead

  /// Reads what comes after a page that is not committed yet, while that is being dealt with.
  ///
  /// - Parameter size: the most changes of a page.
  /// - Returns: what ``commit(_:handingOut:)`` takes; `nil` where nothing is left, or everything starts over.
  public func ahead(
    of page: ConsumerPage, ofAtMost size: Int = defaultPageSize
  ) async throws(StoreError) -> PageAhead? {
    let read = try await store.read { [epochs = store.epochs] db in
      var reader = ConsumerReader(page.state, db, epochs)
      return try reader.page(limit: max(1, size))
    }
    guard read.part != nil, read.before == page.state else { return nil }
    return PageAhead(read: read)
  }

  /// Takes note of a page as ``commit(_:)`` does, and in the same step hands out the next one, which is repeatable.
  ///
  /// - Parameter ahead: ``ahead(of:ofAtMost:)`` of the page.
  /// - Throws: see ``commit(_:)``; then nothing was handed out.
  public func commit(
    _ page: ConsumerPage, handingOut ahead: PageAhead
  ) async throws(StoreError) -> ConsumerPage {
    guard page.consumer == name, page.store == store.id, let part = ahead.read.part, ahead.read.before == page.state
    else { throw .consumerChanged(name: name) }
    let key = UInt64.random(in: 1 ... .max)
    let state = page.state.handingOut(key, part, after: ahead.read.after)
    let revision = try await replace(page.revision, with: state)
    return ConsumerPage(consumer: name, store: store.id, revision: revision, key: key, ahead.read)
  }

  // MARK: The next page

  /// The first page that was not committed, or else where the store stands.
  func next(_ pages: ConsumerPages) async throws(StoreError) -> Next {
    let (name, filter, size) = (name, filter, max(1, pages.size))
    let (row, read) = try await store.read { [epochs = store.epochs] db in
      guard let row = try ConsumerRow.fetch(name, db), row.state.filter == filter else {
        throw StoreError.consumerChanged(name: name)
      }
      var reader = ConsumerReader(row.state, db, epochs)
      return (row, try reader.page(limit: size))
    }
    guard read.part != nil || read.after.isReset else {
      let passed = read.after.position - row.state.position
      if read.after != row.state, !pages.follows || passed > Self.tolerableRepetition {
        // Where somebody else was faster, this is read again.
        try await store.write { db in _ = try ConsumerRow.replace(row.revision, with: read.after, of: name, db) }
      }
      return .nothing(Anchor(change: read.after.position))
    }
    let key = read.before.inHand?.page ?? .random(in: 1 ... .max)
    var revision = row.revision
    if let part = read.part, pages.isRepeatable || ConsumerState.mustNote(part), read.before.inHand == nil {
      revision = try await replace(row.revision, with: read.before.handingOut(key, part, after: read.after))
    }
    return .page(ConsumerPage(consumer: name, store: store.id, revision: revision, key: key, read))
  }

  enum Next {
    case page(ConsumerPage)
    /// Nothing that the consumer wants.
    case nothing(Anchor)
  }
}

/// Some changes for a ``FeedConsumer``, in no order: whoever has dealt with the deletions first has nothing that is
/// deleted.
public struct ConsumerPage: Sendable {
  let consumer: String
  let store: UUID
  /// Of the consumer before it.
  let revision: Int64
  /// Of the consumer after it.
  let state: ConsumerState
  /// Names the page: the same if it comes again, where pages are repeatable, and else another.
  public let key: UInt64
  /// What the consumer keeps where it delivers to, so that both can be held against each other.
  public let receipt: ConsumerReceipt
  /// As they are stored, which is fastest to pass on. None on a first page that only says that everything starts over, and
  /// on one that comes again when all of it is gone.
  public let changes: CodedChanges
  /// Nobody knows what of the pages before is still in the record: forget them all. What is there comes again, beginning
  /// with this page.
  public let startsOver: Bool
  /// There was nothing else when it was read.
  public let isLast: Bool

  init(consumer: String, store: UUID, revision: Int64, key: UInt64, _ read: ConsumerReader.Page) {
    (self.consumer, self.store, self.revision, self.key) = (consumer, store, revision, key)
    (changes, isLast, startsOver) = (read.changes, read.isLast, read.before.isReset)
    receipt = ConsumerReceipt(
      previous: read.before.page, page: key, position: read.after.position, epoch: read.after.epoch)
    var state = read.after
    state.finish(page: key)
    self.state = state
  }

  /// Samples to delete, perhaps some that were never delivered.
  public var deletions: [Tombstone] { changes.tombstones.map(changes.tombstone) }

  /// Samples to add, or to take in place of one with the same reference.
  ///
  /// - Throws: `DecodingError` where the store is damaged.
  public func additions() throws -> [Sample] {
    let expander = try ChangeExpander(changes)
    return try changes.samples.map(expander.sample)
  }
}

/// The changes after a ``ConsumerPage``, read before that is committed.
public struct PageAhead: Sendable {
  let read: ConsumerReader.Page
}

/// Says which page of a ``FeedConsumer`` was the last, and where the store stood then.
public struct ConsumerReceipt: Hashable, Sendable, Codable {
  let previous: UInt64
  let page: UInt64
  let position: Int64
  let epoch: Epoch?

  /// Whether the consumer goes on from what the receipt is for. The page may not have been committed, if its changes are
  /// still those of the store.
  func isCurrent(_ state: ConsumerState, _ db: Database) throws -> Bool {
    if state.page == page { return true }
    guard state.page == previous else { return false }
    return try epoch?.covers(position, db) ?? true
  }
}

/// The pages of a ``FeedConsumer``. Each must be committed before the next is asked for, or it comes again.
public struct ConsumerPages: AsyncSequence, Sendable {
  let consumer: FeedConsumer
  let size: Int
  let follows: Bool
  let isRepeatable: Bool

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(pages: self)
  }

  public struct AsyncIterator: AsyncIteratorProtocol {
    let pages: ConsumerPages

    public mutating func next() async throws -> ConsumerPage? {
      do {
        while !Task.isCancelled {
          switch try await pages.consumer.next(pages) {
          case .page(let page): return page
          case .nothing where !pages.follows: return nil
          case .nothing(let anchor): try await pages.consumer.store.feed.waitForChanges(after: anchor)
          }
        }
        return nil
      } catch  where Task.isCancelled {
        // A cancelled read comes back as an error of the store.
        return nil
      }
    }
  }
}
