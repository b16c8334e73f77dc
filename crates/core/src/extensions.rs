//! Values that layers keep with a runtime, one of each type.
//!
//! There is no global runtime, so what a layer needs once for each process (its ledger, its device client) lives here.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

type Values = HashMap<TypeId, Arc<dyn Any + Send + Sync>>;

/// A map from type to one shared value of it.
#[derive(Default)]
pub struct Extensions {
    values: Mutex<Values>,
}

impl Extensions {
    /// The value of type `T`, if there is one.
    pub fn find<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        values.get(&TypeId::of::<T>()).cloned().and_then(|value| value.downcast().ok())
    }

    /// Puts a value in, and gives back the one it replaces.
    pub fn insert<T: Send + Sync + 'static>(&self, value: Arc<T>) -> Option<Arc<T>> {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        values.insert(TypeId::of::<T>(), value).and_then(|old| old.downcast().ok())
    }

    /// The value of type `T`, made by `init` if there is none yet.
    ///
    /// `init` runs under the map's lock: it must be short and must not use these extensions.
    pub fn find_or_init<T: Send + Sync + 'static>(&self, init: impl FnOnce() -> T) -> Arc<T> {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let value = values.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(init()));
        // The key is the type's own id.
        Arc::clone(value).downcast().expect("the value under a type's id is of that type")
    }

    /// Takes the value of type `T` out.
    pub fn remove<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        values.remove(&TypeId::of::<T>()).and_then(|value| value.downcast().ok())
    }

    /// Drops every value.
    pub(crate) fn clear(&self) {
        let values = std::mem::take(&mut *self.values.lock().unwrap_or_else(PoisonError::into_inner));
        // Outside the lock: a destructor may look here.
        drop(values);
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.values.lock().unwrap_or_else(PoisonError::into_inner).len();
        f.debug_struct("Extensions").field("count", &count).finish()
    }
}
