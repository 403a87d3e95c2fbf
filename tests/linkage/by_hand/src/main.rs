//! Registers its jobs by hand, in a build without the feature `inventory`.

use jobs::Registry;

fn main() {
    let registry = Registry::builder().job::<plugin::send_email>().build();
    match registry {
        Ok(registry) => registry.iter().for_each(|job| println!("job {} at {}", job.spec.name, job.spec.place)),
        Err(error) => println!("refused {error}"),
    }
}
