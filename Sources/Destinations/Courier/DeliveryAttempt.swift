extension Destination {
  /// Makes one delivery attempt, limited by the destination's deadline. Throws ``DeliveryError``,
  /// `CancellationError`, or `DecodingError` if the store is damaged.
  func attempt(_ batch: DeliveryBatch, key: DeliveryKey, clock: any Clock<Duration>) async throws -> Delivery {
    let deadline = capabilities.deadline
    return try await withThrowingTaskGroup(of: Delivery?.self) { group in
      group.addTask {
        do {
          return try await deliver(batch, key: key)
        } catch let error as DeliveryError {
          throw error
        } catch let error as DecodingError {
          // The store is damaged, so a later attempt would fail as well.
          throw error
        } catch {
          try Task.checkCancellation()
          throw DeliveryError.temporary(reason: "\(error)")
        }
      }
      group.addTask {
        try await clock.sleep(for: deadline)
        return nil
      }
      defer { group.cancelAll() }
      guard let delivery = try await group.next() ?? nil else {
        throw DeliveryError.temporary(reason: "it did not answer within \(deadline)")
      }
      return delivery
    }
  }
}
